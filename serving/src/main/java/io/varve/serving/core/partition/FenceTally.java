package io.varve.serving.core.partition;

import io.varve.base.Invariant;
import java.util.Arrays;

/**
 * The fence replies of a takeover. Only truthful ones get in here: the replica's end, or the word of a bookie that can vouch that it never
 * had the segment. Each replica counts once. Once fenced, a replica's end can't change any more, so a late reply is as good as an early one.
 */
final class FenceTally {

    private static final long NO_REPLY = -1;

    private final SegmentRules rules;
    private final int acks;
    private final long startOffset;
    private final long[] ends;
    private long highWatermark = -1;

    FenceTally(SegmentRules rules, int replicas, int acks, long startOffset) {
        this.rules = rules;
        this.acks = acks;
        this.startOffset = startOffset;
        this.ends = new long[replicas];
        Arrays.fill(ends, NO_REPLY);
    }

    /** A replica is fenced and holds everything below {@code end}. */
    void onHeld(int replica, long end, long highWatermarkTold) {
        Invariant.check(end >= startOffset, "a replica ends at or after its segment's start", end, startOffset);
        Invariant.check(
                ends[replica] == NO_REPLY || ends[replica] == end,
                "I-4 a fenced replica's end stays",
                ends[replica],
                end);
        ends[replica] = end;
        highWatermark = Math.max(highWatermark, highWatermarkTold);
    }

    /** A bookie is fenced, and never had the segment. */
    void onAbsent(int replica) {
        onHeld(replica, startOffset, -1);
    }

    /** Takes a reply back: its bookie can't deliver what it said it holds. */
    void forget(int replica) {
        ends[replica] = NO_REPLY;
    }

    boolean hasReply(int replica) {
        return ends[replica] != NO_REPLY;
    }

    boolean isEnough() {
        return replied().length >= rules.fenceReplies(ends.length, acks);
    }

    long sealOffset() {
        return rules.sealOffset(startOffset, highWatermark, replied(), acks);
    }

    long carryEnd(long sealOffset) {
        return rules.carryEnd(sealOffset, replied());
    }

    boolean holds(int replica, long endOffset) {
        return ends[replica] != NO_REPLY && ends[replica] >= endOffset;
    }

    /** A replica's end, -1 without a reply. */
    long endOf(int replica) {
        return ends[replica];
    }

    /** The replied ends, descending. */
    private long[] replied() {
        long[] sorted = ends.clone();
        Arrays.sort(sorted);
        int none = 0;
        while (none < sorted.length && sorted[none] == NO_REPLY) {
            none++;
        }
        long[] descending = new long[sorted.length - none];
        for (int i = 0; i < descending.length; i++) {
            descending[i] = sorted[sorted.length - 1 - i];
        }
        return descending;
    }
}
