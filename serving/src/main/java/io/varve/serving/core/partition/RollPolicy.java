package io.varve.serving.core.partition;

/** When it is time for another segment. */
final class RollPolicy {

    private RollPolicy() {}

    /** Whether a segment has been written enough, or can't be written any more: full, old and not empty, or short of a quorum. */
    static boolean isDue(SegmentWriter writer, LeaderOptions options, long highWatermark, long nowNs) {
        boolean full = writer.sentBytes() >= options.segmentBytesMax();
        boolean old = nowNs - writer.openedNs() >= options.segmentAgeNsMax() && highWatermark > writer.startOffset();
        return full || old || !writer.tracker().hasQuorum();
    }

    /** Whether the next segment should be made ready, so that the roll that comes soon costs no pause. */
    static boolean isNear(SegmentWriter writer, LeaderOptions options) {
        return writer.sentBytes() >= options.segmentBytesMax() - options.prepareBytes();
    }

    /** Whether another set of bookies could hold more copies than this segment's does. */
    static boolean couldHoldMore(SegmentWriter writer, LeaderOptions options, int usableBookies) {
        int healthy = writer.tracker().healthy();
        return healthy < options.replicas() && usableBookies > healthy;
    }

    /** Whether a segment would hold more copies than this one does. */
    static boolean holdsMore(int replicas, SegmentWriter writer) {
        return replicas > writer.tracker().healthy();
    }

    /**
     * Whether a replica is to be dropped for being slow: too long behind, or with too much unconfirmed while others confirm. Never one that the quorum needs:
     * better slow than not at all.
     *
     * @param pendingBytes handed to its stream and not known to be durable
     */
    static boolean isTooSlow(
            SegmentWriter writer,
            int replica,
            long pendingBytes,
            LeaderOptions options,
            long highWatermark,
            long nowNs) {
        ReplicationTracker tracker = writer.tracker();
        if (tracker.isFailed(replica)) {
            return false;
        }
        // Asked always, because it is what measures the lag.
        boolean late = tracker.isSlow(replica, nowNs, options.lagNsMax());
        boolean tooMuch = pendingBytes > options.lagBytesMax() && tracker.end(replica) < highWatermark;
        return (late || tooMuch) && tracker.healthy() > writer.descriptor().acks();
    }
}
