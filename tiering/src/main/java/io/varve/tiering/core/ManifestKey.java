package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.ObjectKeys;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the key of a manifest's root or leaf says, the other way round from {@link ObjectKeys}.
 *
 * @param generation the task that wrote it
 */
public record ManifestKey(PartitionId partition, long generation) {

    private static final Pattern SHAPE =
            Pattern.compile("([0-9a-f]{32})/(0|[1-9][0-9]{0,9})/manifest/([0-9a-f]{16})(\\.root|-[0-9]{4}\\.leaf)");

    /** What the key of a cluster's manifest says; nothing if it is the key of something else. */
    public static Optional<ManifestKey> parse(String clusterId, String key) {
        String prefix = ObjectKeys.clusterPrefix(clusterId);
        if (!key.startsWith(prefix)) {
            return Optional.empty();
        }
        Matcher shape = SHAPE.matcher(key.substring(prefix.length()));
        if (!shape.matches()) {
            return Optional.empty();
        }
        try {
            PartitionId partition = new PartitionId(TopicId.parse(shape.group(1)), Integer.parseInt(shape.group(2)));
            return Optional.of(new ManifestKey(partition, Long.parseUnsignedLong(shape.group(3), 16)));
        } catch (NumberFormatException beyondOurNumbers) {
            return Optional.empty();
        }
    }
}
