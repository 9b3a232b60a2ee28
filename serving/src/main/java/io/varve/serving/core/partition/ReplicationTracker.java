package io.varve.serving.core.partition;

import io.varve.base.Invariant;

/**
 * What the replicas of one segment hold, as they say in cumulative acknowledgements to one writer's streams.
 *
 * <p>An acknowledgement belongs to a stream, so nothing that another writer, a repair or a carry put on the same bookie is ever counted here.
 */
final class ReplicationTracker {

    private final SegmentRules rules;
    private final int acks;
    private final long startOffset;
    private final long[] ends;
    private final boolean[] failed;
    private final long[] lagTarget;
    private final long[] lagSinceNs;
    private long sentEnd;

    ReplicationTracker(SegmentRules rules, int replicas, int acks, long startOffset, long nowNs) {
        Invariant.check(acks >= 1 && acks <= replicas, "1 <= A <= replicas", acks, replicas);
        this.rules = rules;
        this.acks = acks;
        this.startOffset = startOffset;
        this.ends = new long[replicas];
        this.failed = new boolean[replicas];
        this.lagTarget = new long[replicas];
        this.lagSinceNs = new long[replicas];
        this.sentEnd = startOffset;
        java.util.Arrays.fill(ends, startOffset);
        java.util.Arrays.fill(lagTarget, startOffset);
        java.util.Arrays.fill(lagSinceNs, nowNs);
    }

    /** Everything below {@code end} was sent to all replicas that have not failed. */
    void onSent(long end) {
        sentEnd = end;
    }

    /** The end of what was sent. */
    long sentEnd() {
        return sentEnd;
    }

    /** A replica said that it holds everything below {@code end} durably. */
    void onDurable(int replica, long end) {
        Invariant.check(end <= sentEnd, "I-3 a replica acknowledges no more than it was sent", end, sentEnd);
        int counted = rules.countedAs(replica);
        ends[counted] = Math.max(ends[counted], end);
    }

    /** Nothing more comes from this replica. What it holds, it holds. */
    void onFailed(int replica) {
        failed[replica] = true;
    }

    boolean isFailed(int replica) {
        return failed[replica];
    }

    long end(int replica) {
        return ends[replica];
    }

    /** How many replicas still take entries. */
    int healthy() {
        int healthy = 0;
        for (boolean f : failed) {
            healthy += f ? 0 : 1;
        }
        return healthy;
    }

    /** Whether what is sent from now on can be acknowledged. */
    boolean hasQuorum() {
        return healthy() >= acks;
    }

    /** The first offset not durable on A replicas: the high watermark as far as this segment goes. */
    long durableOnQuorum() {
        return Math.max(startOffset, rules.durableOnQuorum(ends, acks));
    }

    boolean holds(int replica, long endOffset) {
        return ends[replica] >= endOffset;
    }

    /**
     * Whether a replica has not made durable within {@code lagNsMax} what had been sent to it. Asked at every tick.
     */
    boolean isSlow(int replica, long nowNs, long lagNsMax) {
        if (failed[replica]) {
            return false;
        }
        if (ends[replica] >= lagTarget[replica]) {
            lagTarget[replica] = sentEnd;
            lagSinceNs[replica] = nowNs;
            return false;
        }
        return nowNs - lagSinceNs[replica] > lagNsMax;
    }
}
