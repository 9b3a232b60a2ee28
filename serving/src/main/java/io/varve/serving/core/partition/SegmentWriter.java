package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.List;
import java.util.TreeSet;

/** One segment that this owner writes, or wrote and still waits for. Its streams live in the shell, under {@link #number()}. */
public final class SegmentWriter {

    /** Checkpoints may be one part in so many of what is written. */
    private static final int CHECKPOINT_COST = 16;

    private final int number;
    private final SegmentDescriptor descriptor;
    private final long startOffset;
    private final long openedNs;
    private final ReplicationTracker tracker;
    private long sentBytes;
    private long checkpointedBytes;
    private long checkpointOffset = -1;
    private int checkpointBytes;
    private long ackedBytes;
    private long ackedMaxTimestampMs = -1;
    private long sealOffset = -1;
    private long trailUntilNs;

    SegmentWriter(int number, SegmentDescriptor descriptor, long startOffset, SegmentRules rules, long nowNs) {
        this.number = number;
        this.descriptor = descriptor;
        this.startOffset = startOffset;
        this.openedNs = nowNs;
        this.tracker =
                new ReplicationTracker(rules, descriptor.replicas().size(), descriptor.acks(), startOffset, nowNs);
    }

    /** Tells apart the writers of one owner, in order of their opening; never reused by it. */
    public int number() {
        return number;
    }

    /** The segment's identity. */
    public SegmentId segment() {
        return descriptor.id();
    }

    /** As it was allocated; its start is only a guess, see {@link #startOffset()}. */
    public SegmentDescriptor descriptor() {
        return descriptor;
    }

    /** The first offset it holds. */
    public long startOffset() {
        return startOffset;
    }

    /** In the order in which replicas are numbered. */
    public List<Replica> replicas() {
        return descriptor.replicas();
    }

    /** How many replicas are written to. */
    public int replicasWritten() {
        return tracker.healthy();
    }

    /** How many records a replica is behind what it was sent; 0 for one that is not written to any more. */
    public long lagRecords(int replica) {
        return tracker.isFailed(replica) ? 0 : tracker.sentEnd() - tracker.end(replica);
    }

    ReplicationTracker tracker() {
        return tracker;
    }

    long openedNs() {
        return openedNs;
    }

    void onSent(long end, int bytes) {
        tracker.onSent(end);
        sentBytes += bytes;
    }

    /** Payload bytes handed to the streams. */
    long sentBytes() {
        return sentBytes;
    }

    /**
     * Whether a checkpoint is due: after so many bytes, or after a multiple of its own size if that is more; but not while the one before lies above
     * the high watermark. Replicas keep the newest two, so one of them is then always at or below any seal.
     */
    boolean isCheckpointDue(long spacingBytes, long highWatermark) {
        return checkpointOffset <= highWatermark
                && sentBytes - checkpointedBytes >= Math.max(spacingBytes, (long) checkpointBytes * CHECKPOINT_COST);
    }

    void onCheckpoint(long offset, int sizeBytes) {
        checkpointOffset = offset;
        checkpointedBytes = sentBytes;
        checkpointBytes = sizeBytes;
    }

    /** An entry of this segment left the window, acknowledged. */
    void onAcked(int bytes, long maxTimestampMs) {
        ackedBytes += bytes;
        ackedMaxTimestampMs = Math.max(ackedMaxTimestampMs, maxTimestampMs);
    }

    long ackedBytes() {
        return ackedBytes;
    }

    long ackedMaxTimestampMs() {
        return ackedMaxTimestampMs;
    }

    /** The bookies known to hold everything below {@code endOffset}. */
    TreeSet<BookieId> holders(long endOffset) {
        TreeSet<BookieId> holders = new TreeSet<>();
        for (int r = 0; r < replicas().size(); r++) {
            if (tracker.holds(r, endOffset)) {
                holders.add(replicas().get(r).bookie());
            }
        }
        return holders;
    }

    int holdersCount(long endOffset) {
        int count = 0;
        for (int r = 0; r < replicas().size(); r++) {
            count += tracker.holds(r, endOffset) ? 1 : 0;
        }
        return count;
    }

    void toTrailing(long sealedAt, long untilNs) {
        sealOffset = sealedAt;
        trailUntilNs = untilNs;
    }

    long sealOffset() {
        return sealOffset;
    }

    long trailUntilNs() {
        return trailUntilNs;
    }
}
