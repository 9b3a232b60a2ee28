package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectKeys;
import java.util.Optional;

/**
 * A stretch of a cluster's keys, in the order in which stores list them: that of the topics' ids, in it that of the partitions' numbers as text, and in a partition that of the
 * offsets at which objects begin, manifests last.
 *
 * @param after exclusive; empty for the first key of all
 * @param last inclusive; empty if there is no end
 */
public record KeyRange(String after, Optional<String> last) {

    private static final int OFFSET_DIGITS = 20;

    /** Whether a key lies in it. */
    public boolean contains(String key) {
        return key.compareTo(after) > 0 && (last.isEmpty() || key.compareTo(last.get()) <= 0);
    }

    /** Whether a key of the partition can lie in it. */
    public boolean touches(String clusterId, PartitionId partition) {
        String prefix = ObjectKeys.partitionPrefix(clusterId, partition);
        boolean endsBefore = last.isPresent() && last.get().compareTo(prefix) < 0;
        boolean beginsBehind = after.compareTo(prefix) > 0 && !after.startsWith(prefix);
        return !endsBefore && !beginsBehind;
    }

    /** No object of the partition in this range begins below. */
    public long offsetFrom(String clusterId, PartitionId partition) {
        return offset(after, ObjectKeys.partitionPrefix(clusterId, partition)).orElse(0L);
    }

    /** No object of the partition in this range begins above. */
    public long offsetUpTo(String clusterId, PartitionId partition) {
        String prefix = ObjectKeys.partitionPrefix(clusterId, partition);
        return last.flatMap(key -> offset(key, prefix)).orElse(Long.MAX_VALUE);
    }

    /** What begins with no offset comes after all that does. */
    private static Optional<Long> offset(String key, String prefix) {
        if (!key.startsWith(prefix)) {
            return Optional.empty();
        }
        String rest = key.substring(prefix.length());
        boolean hasOffset = rest.length() >= OFFSET_DIGITS
                && rest.chars().limit(OFFSET_DIGITS).allMatch(c -> c >= '0' && c <= '9');
        try {
            return Optional.of(hasOffset ? Long.parseLong(rest.substring(0, OFFSET_DIGITS)) : Long.MAX_VALUE);
        } catch (NumberFormatException beyondOurNumbers) {
            return Optional.of(Long.MAX_VALUE);
        }
    }
}
