package io.varve.serving.core.partition;

import io.varve.base.Invariant;

/**
 * The arithmetic on which the segment protocol's safety rests, in one place. The simulation puts a wrong rule in the place of one of
 * these at a time, to show that it finds what follows from it.
 */
public class SegmentRules {

    /** The rules. */
    public static final SegmentRules STANDARD = new SegmentRules();

    /** For the simulation to extend. */
    protected SegmentRules() {}

    /**
     * How many truthful fence replies a takeover needs (I-5). Every set of A replicas, so also those that acknowledged any one entry, has
     * a member among that many.
     */
    public int fenceReplies(int replicas, int acks) {
        return replicas - acks + 1;
    }

    /**
     * Where a takeover seals the open segment: the lowest offset of which it is known that everything below is held by A replicas, or was
     * known to be by the old owner. Readers were shown nothing above a high watermark that some replica was told, so that the new owner's
     * first one is not below what they saw (I-15).
     *
     * @param startOffset of the segment
     * @param highWatermark the largest that any replica was told, or -1
     * @param ends the ends that were replied, descending; at least {@link #fenceReplies}
     */
    public long sealOffset(long startOffset, long highWatermark, long[] ends, int acks) {
        long held = ends.length >= acks ? ends[acks - 1] : startOffset;
        return Math.max(startOffset, Math.max(highWatermark, held));
    }

    /** Up to where a takeover carries: whatever may have been acknowledged is below. */
    public long carryEnd(long sealOffset, long[] ends) {
        Invariant.check(sealOffset <= ends[0], "I-1 a high watermark that no replica reaches", sealOffset, ends[0]);
        return ends[0];
    }

    /**
     * The first offset not durable on A replicas.
     *
     * @param ends the durable ends of all replicas, in any order; not changed
     */
    public long durableOnQuorum(long[] ends, int acks) {
        if (ends.length < acks) {
            return -1;
        }
        // R is a handful: selecting without sorting or allocating beats anything cleverer.
        for (long candidate : ends) {
            int atLeast = 0;
            int above = 0;
            for (long end : ends) {
                if (end >= candidate) {
                    atLeast++;
                }
                if (end > candidate) {
                    above++;
                }
            }
            if (atLeast >= acks && above < acks) {
                return candidate;
            }
        }
        throw new io.varve.base.InvariantViolation("an A-th largest end exists");
    }

    /** Whether entries of a segment whose roll has not committed may be acknowledged (I-6). */
    public boolean acknowledgesBeforeRoll() {
        return false;
    }

    /** What a replica's durable end becomes when it says {@code said}: ends are cumulative, and each replica counts once. */
    public int countedAs(int replica) {
        return replica;
    }
}
