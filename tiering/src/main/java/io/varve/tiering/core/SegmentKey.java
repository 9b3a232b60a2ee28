package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.ObjectKeys;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a key says, the other way round from {@link ObjectKeys}.
 *
 * @param attemptId the attempt that wrote it
 */
public record SegmentKey(PartitionId partition, long startOffset, long attemptId) {

    private static final Pattern SHAPE =
            Pattern.compile("([0-9a-f]{32})/(0|[1-9][0-9]{0,9})/([0-9]{20})-([0-9a-f]{16})\\.seg");

    /** What the key of a cluster's segment says; nothing if it is the key of something else. */
    public static Optional<SegmentKey> parse(String clusterId, String key) {
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
            return Optional.of(new SegmentKey(
                    partition, Long.parseLong(shape.group(3)), Long.parseUnsignedLong(shape.group(4), 16)));
        } catch (NumberFormatException beyondOurNumbers) {
            return Optional.empty();
        }
    }
}
