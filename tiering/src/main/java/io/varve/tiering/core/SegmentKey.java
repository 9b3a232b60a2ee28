package io.varve.tiering.core;

import io.varve.base.PartitionId;
import java.util.Optional;

/**
 * What a key says, the other way round from {@link io.varve.metadata.model.ObjectKeys}.
 *
 * @param attemptId the attempt that wrote it
 */
public record SegmentKey(PartitionId partition, long startOffset, long attemptId) {

    private static final KeyShape SHAPE = new KeyShape("([0-9]{20})-([0-9a-f]{16})\\.seg");

    /** What the key of a cluster's segment says; nothing if it is the key of something else. */
    public static Optional<SegmentKey> parse(String clusterId, String key) {
        return SHAPE.read(
                clusterId,
                key,
                (partition, groups) -> new SegmentKey(
                        partition,
                        Long.parseLong(groups.group(KeyShape.FIRST_GROUP)),
                        Long.parseUnsignedLong(groups.group(KeyShape.FIRST_GROUP + 1), 16)));
    }
}
