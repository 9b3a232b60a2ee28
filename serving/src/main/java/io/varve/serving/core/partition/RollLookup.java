package io.varve.serving.core.partition;

import io.varve.base.SegmentId;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;

/** What a linearizable read of the chain says of a roll whose outcome is not known (I-17), while the partition is still owned. */
enum RollLookup {
    /** The segment that the roll was to open is the open one. */
    COMMITTED,
    /** The chain is as it was before: it may be tried again. */
    NOT_COMMITTED,
    /**
     * Another segment is open that this owner once asked to open at the same offset and gave up since. It is empty as far as anybody was told (I-6), so the
     * roll seals it instead.
     */
    STRANDED,
    /** Somebody else changed the chain. */
    OVERTAKEN;

    /**
     * @param open the chain's open segment, or null
     * @param tried how the roll was to seal, null for a chain that had no open segment
     * @param opening the segment that the roll was to open, or null if it was given up
     * @param epoch the owner's
     * @param sealOffset where the roll was to open
     */
    static RollLookup of(SegmentDescriptor open, SealFacts tried, SegmentId opening, int epoch, long sealOffset) {
        if (open != null && open.id().equals(opening)) {
            return COMMITTED;
        }
        if (open == null) {
            return tried == null ? NOT_COMMITTED : OVERTAKEN;
        }
        if (tried != null && open.id().equals(tried.segment())) {
            return NOT_COMMITTED;
        }
        return open.epoch() == epoch && open.startOffset() == sealOffset ? STRANDED : OVERTAKEN;
    }
}
