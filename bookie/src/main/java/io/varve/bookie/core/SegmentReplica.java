package io.varve.bookie.core;

import io.varve.base.Invariant;
import io.varve.base.SegmentId;

/**
 * One bookie's copy of a segment: always a contiguous prefix (I-3), so that its state is one number, the end.
 *
 * <p>There are two ends. Up to the accepted end, entries have been put into the journal's order; up to the durable end they have survived an
 * fsync, and only that one is ever told to anybody. The thread that owns the journal changes the replica; any thread may read
 * {@link #durableEnd}, {@link #highWatermark} and {@link #sealedEnd}.
 */
public final class SegmentReplica {

    /** No end was set by a seal. */
    public static final long UNSEALED = -1;

    /** What becomes of an append. */
    public enum Verdict {
        /** It is the next entry. */
        ACCEPT,
        /** The replica holds all of it: answered with the end once that is durable. */
        REPEAT,
        /** It starts above the end. */
        GAP,
        /** Its owner's epoch is over, or never was this segment's. */
        FENCED,
        /** The segment ended. */
        SEALED,
        /** Its offsets can't be, or cut through an entry that is there. */
        INVALID
    }

    private final SegmentId id;
    private final Fence fence;
    private final int epoch;
    private final long startOffset;
    private long acceptedEnd;
    private volatile long durableEnd;
    private volatile long highWatermark;
    private volatile long sealedEnd;
    private int sealEpoch;

    /** A replica that holds nothing yet. */
    public SegmentReplica(SegmentId id, Fence fence, int epoch, long startOffset) {
        this(id, fence, epoch, startOffset, startOffset, -1, UNSEALED, -1);
    }

    /** A replica as it was found on disk: all of it durable. */
    public SegmentReplica(
            SegmentId id,
            Fence fence,
            int epoch,
            long startOffset,
            long end,
            long highWatermark,
            long sealedEnd,
            int sealEpoch) {
        Invariant.check(
                startOffset >= 0 && end >= startOffset, "I-3 a replica ends at or above its start", startOffset, end);
        this.id = id;
        this.fence = fence;
        this.epoch = epoch;
        this.startOffset = startOffset;
        this.acceptedEnd = end;
        this.durableEnd = end;
        this.highWatermark = highWatermark;
        this.sealedEnd = sealedEnd;
        this.sealEpoch = sealEpoch;
    }

    /** Judges an append, changing nothing. */
    public Verdict judge(int ownerEpoch, long firstOffset, long lastOffset) {
        if (fence.refuses(ownerEpoch) || ownerEpoch < epoch) {
            return Verdict.FENCED;
        }
        if (ownerEpoch > epoch
                || firstOffset < startOffset
                || lastOffset < firstOffset
                || lastOffset == Long.MAX_VALUE) {
            return Verdict.INVALID;
        }
        if (lastOffset < acceptedEnd) {
            return Verdict.REPEAT;
        }
        if (sealedEnd != UNSEALED) {
            return Verdict.SEALED;
        }
        if (firstOffset > acceptedEnd) {
            return Verdict.GAP;
        }
        return firstOffset == acceptedEnd ? Verdict.ACCEPT : Verdict.INVALID;
    }

    /** Takes in the next entry, once judged {@link Verdict#ACCEPT}. */
    public void accept(long firstOffset, long lastOffset, long ownersHighWatermark) {
        Invariant.check(
                firstOffset == acceptedEnd, "I-3 an entry starts at the replica's end", acceptedEnd, firstOffset);
        acceptedEnd = lastOffset + 1;
        if (ownersHighWatermark > highWatermark) {
            highWatermark = ownersHighWatermark;
        }
    }

    /** Everything below {@code end} survived an fsync. */
    public void onDurable(long end) {
        Invariant.check(
                end >= durableEnd && end <= acceptedEnd,
                "I-3 the durable end only rises, to what was accepted",
                durableEnd,
                end);
        durableEnd = end;
    }

    /**
     * Notes where the segment ends. The word of a higher epoch replaces that of a lower one: only one of them can have rolled.
     *
     * @return whether anything changed
     */
    public boolean seal(int byEpoch, long endOffset) {
        if (byEpoch < sealEpoch || (byEpoch == sealEpoch && sealedEnd == endOffset)) {
            return false;
        }
        sealedEnd = endOffset;
        sealEpoch = byEpoch;
        return true;
    }

    /** Which segment. */
    public SegmentId id() {
        return id;
    }

    /** Its partition's fence. */
    public Fence fence() {
        return fence;
    }

    /** The epoch that the segment was made under. */
    public int epoch() {
        return epoch;
    }

    /** The first offset that it may hold. */
    public long startOffset() {
        return startOffset;
    }

    /** Where the next entry must start. */
    public long acceptedEnd() {
        return acceptedEnd;
    }

    /** Exclusive: everything below it is on disk. */
    public long durableEnd() {
        return durableEnd;
    }

    /** The highest that an owner told it, or -1. */
    public long highWatermark() {
        return highWatermark;
    }

    /** Where it was told that the segment ends, or {@link #UNSEALED}. */
    public long sealedEnd() {
        return sealedEnd;
    }

    /** Whose word the seal is, or -1. */
    public int sealEpoch() {
        return sealEpoch;
    }
}
