package io.varve.tiering.core;

import io.varve.base.PartitionId;
import java.util.Optional;

/**
 * What the key of a manifest's root or leaf says, the other way round from {@link io.varve.metadata.model.ObjectKeys}.
 *
 * @param generation the task that wrote it
 */
public record ManifestKey(PartitionId partition, long generation) {

    private static final KeyShape SHAPE = new KeyShape("manifest/([0-9a-f]{16})(\\.root|-[0-9]{4}\\.leaf)");

    /** What the key of a cluster's manifest says; nothing if it is the key of something else. */
    public static Optional<ManifestKey> parse(String clusterId, String key) {
        return SHAPE.read(
                clusterId,
                key,
                (partition, groups) ->
                        new ManifestKey(partition, Long.parseUnsignedLong(groups.group(KeyShape.FIRST_GROUP), 16)));
    }
}
