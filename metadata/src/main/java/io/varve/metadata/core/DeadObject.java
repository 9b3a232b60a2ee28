package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.Optional;

/**
 * The intent to delete an object (I-11).
 *
 * @param when not before its readers of yesterday are gone
 * @param held what it held of a chain, if it ever counted
 */
record DeadObject(Retry when, Optional<Held> held) {

    /** What never counted: it is missed by nobody. */
    DeadObject(Retry when) {
        this(when, Optional.empty());
    }

    /**
     * Offsets of a partition. What compaction put in the place of what was there may be on bookies alone; then the object stays, for should they all be lost it is what a restoration can have.
     *
     * @param endOffset exclusive
     */
    record Held(PartitionId partition, long startOffset, long endOffset) {

        static Held of(PartitionId partition, ObjectRef object) {
            return new Held(partition, object.startOffset(), object.endOffset());
        }

        /** Whether some of these offsets that may be read are on bookies alone. Of a topic that was deleted none are missed. */
        boolean isTheOnlyOneInTheBucket(MetadataImage image) {
            PartitionState state = image.partition(partition).orElse(null);
            if (state == null) {
                return false;
            }
            for (SegmentDescriptor segment : state.chain()
                    .from(Math.max(startOffset, state.logStartOffset()))
                    .values()) {
                if (segment.startOffset() >= endOffset) {
                    return false;
                }
                if (!segment.isOffloaded()) {
                    return true;
                }
            }
            return false;
        }
    }

    boolean isDue(MetadataImage image, long nowMs) {
        return when.notBeforeMs() <= nowMs && !isTheOnlyOneInTheBucket(image);
    }

    /** Whether some of what it held is on bookies alone. */
    boolean isTheOnlyOneInTheBucket(MetadataImage image) {
        return held.isPresent() && held.get().isTheOnlyOneInTheBucket(image);
    }

    /** After one more failure. */
    DeadObject later(long nowMs, String reason) {
        return new DeadObject(Retry.afterUnhurried(when.attempts(), nowMs, reason), held);
    }
}
