package io.varve.serving.core.partition;

import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Comparator;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * What the owner of a partition knows beyond the entries themselves: producers and transactions, epochs, times. It follows from the entries, is
 * kept up as they are appended, and is stored as a checkpoint with the segment's replicas, so that a takeover replays little.
 *
 * <pre>
 *  0         1        5        13              21              29         37             45
 *  +---------+--------+--------+---------------+---------------+----------+--------------+----------------------------------------+
 *  | version | crc32c | offset | segment start | segment bytes | max time | aborted from | epochs, producers, aborted, time index |
 *  +---------+--------+--------+---------------+---------------+----------+--------------+----------------------------------------+
 * </pre>
 *
 * Big-endian. {@code crc32c} covers everything after it. Counts precede what they count. A reader refuses versions it doesn't know and then
 * replays from an older checkpoint or from the log's start.
 */
public final class LogState {

    /** For {@link #onSegment}: nothing is known of earlier segments' checkpoints. */
    public static final long KEEP_ABORTED = -1;

    private static final byte VERSION = 1;
    private static final int CRC_AT = 1;
    private static final int COVERED_AT = CRC_AT + Integer.BYTES;
    private static final int HEADER_BYTES = COVERED_AT + 5 * Long.BYTES;

    private final EpochTable epochs;
    private final ProducerStates producers;
    private final AbortedTxns aborted;
    private TimeIndex times;
    private long offset;
    private long segmentStart;
    private long segmentBytes;
    private long segmentMaxTimestampMs = -1;
    private long abortedFrom;
    private long abortedFromNext;

    private LogState(EpochTable epochs, ProducerStates producers, AbortedTxns aborted, TimeIndex times) {
        this.epochs = epochs;
        this.producers = producers;
        this.aborted = aborted;
        this.times = times;
    }

    /** The state of a log without entries, or of one whose entries below {@code startOffset} are all gone. */
    public static LogState empty(long startOffset) {
        ProducerStates producers = startOffset == 0 ? new ProducerStates() : ProducerStates.ofUnknownPast();
        LogState state = new LogState(new EpochTable(), producers, new AbortedTxns(), new TimeIndex());
        state.offset = startOffset;
        state.segmentStart = startOffset;
        state.abortedFrom = startOffset;
        return state;
    }

    /** It follows from everything below this. */
    public long offset() {
        return offset;
    }

    /** Producers and transactions. */
    public ProducerStates producers() {
        return producers;
    }

    /** Where epochs begin. */
    public EpochTable epochs() {
        return epochs;
    }

    /** Transactions aborted lately: at least those whose markers lie in the open segment. */
    public AbortedTxns aborted() {
        return aborted;
    }

    /** {@link #aborted} is complete for markers from here on. */
    public long abortedFrom() {
        return abortedFrom;
    }

    /** The times of the open segment. */
    public TimeIndex times() {
        return times;
    }

    /** The start of the segment that {@link #times} and the counters are about. */
    public long segmentStart() {
        return segmentStart;
    }

    /** Bytes of the segment's entries so far, with their headers. */
    public long segmentBytes() {
        return segmentBytes;
    }

    /** The largest record time in the segment so far, or -1. */
    public long segmentMaxTimestampMs() {
        return segmentMaxTimestampMs;
    }

    /**
     * Entries from here on belong to another segment. Those that were applied already are to be counted again.
     *
     * <p>Aborted transactions are forgotten one segment later than they could be: while the roll is under way the segment before isn't sealed yet,
     * and its checkpoint not yet asked by readers.
     *
     * @param abortedBelow aborted transactions whose markers lie below are in an earlier segment's checkpoint for sure
     */
    public void onSegment(long startOffset, long abortedBelow) {
        segmentStart = startOffset;
        segmentBytes = 0;
        segmentMaxTimestampMs = -1;
        times = new TimeIndex();
        abortedFrom = Math.max(abortedFrom, abortedFromNext);
        abortedFromNext = Math.max(abortedFrom, abortedBelow);
        aborted.dropBelow(abortedFrom);
    }

    /**
     * The segment that ends here was written by compaction: what it holds is to be counted anew, and nothing aborted is left in what compaction has looked at.
     *
     * @param startOffset of that segment
     * @param compactedEnd up to where compaction has looked at it, exclusive
     * @param known all that was aborted by markers above that in the segment, in any order; more do no harm
     */
    public void onRewritten(long startOffset, long compactedEnd, List<Aborted> known) {
        segmentStart = startOffset;
        segmentBytes = 0;
        segmentMaxTimestampMs = -1;
        times = new TimeIndex();
        abortedFrom = compactedEnd;
        aborted.dropBelow(offset);
        known.stream()
                .filter(a -> a.markerOffset() >= compactedEnd && a.markerOffset() < offset)
                .sorted(Comparator.comparingLong(Aborted::markerOffset))
                .forEach(aborted::add);
    }

    /** An entry of the open segment, in order: of its size and its times. */
    public void count(long firstOffset, int sizeBytes, long maxTimestampMs) {
        times.add(firstOffset, sizeBytes, maxTimestampMs);
        segmentBytes += sizeBytes;
        segmentMaxTimestampMs = Math.max(segmentMaxTimestampMs, maxTimestampMs);
    }

    /** The owner of this epoch starts appending here. */
    public void onEpoch(int epoch) {
        epochs.assign(epoch, offset);
    }

    /**
     * The next entry, appended now or replayed.
     *
     * @param batch the payload from its position to its limit, with its offsets and epoch in place; not changed
     * @param sizeBytes with the entry's header
     * @param nowMs wall time
     */
    public void apply(ByteBuffer batch, int sizeBytes, long nowMs) {
        int at = batch.position();
        long first = RecordBatchHeader.baseOffset(batch, at);
        long last = RecordBatchHeader.lastOffset(batch, at);
        long maxTimestampMs = RecordBatchHeader.maxTimestampMs(batch, at);
        epochs.assign(RecordBatchHeader.leaderEpoch(batch, at), first);
        if (RecordBatchHeader.isControl(batch, at)) {
            applyMarker(batch, at, first, nowMs);
        } else if (RecordBatchHeader.producerId(batch, at) != RecordBatchHeader.NO_PRODUCER_ID) {
            producers.onBatch(
                    RecordBatchHeader.producerId(batch, at),
                    RecordBatchHeader.producerEpoch(batch, at),
                    RecordBatchHeader.baseSequence(batch, at),
                    first,
                    last,
                    maxTimestampMs,
                    RecordBatchHeader.isTransactional(batch, at),
                    nowMs);
        }
        count(first, sizeBytes, maxTimestampMs);
        offset = last + 1;
    }

    private void applyMarker(ByteBuffer batch, int at, long offsetOfMarker, long nowMs) {
        EndMarker marker = EndMarker.parse(batch, at);
        if (marker != null) {
            producers.onMarker(
                    marker.producerId(),
                    marker.producerEpoch(),
                    marker.coordinatorEpoch(),
                    marker.commit(),
                    offsetOfMarker,
                    nowMs,
                    aborted);
        }
    }

    // ---- form
    // -------------------------------------------------------------------------------------------------------------------

    /** The checkpoint as of now. */
    public ByteBuffer encode() {
        ByteBuffer to = ByteBuffer.allocate(HEADER_BYTES
                + epochs.encodedBytes()
                + producers.encodedBytes()
                + aborted.encodedBytes()
                + times.encodedBytes());
        to.put(VERSION).putInt(0);
        to.putLong(offset)
                .putLong(segmentStart)
                .putLong(segmentBytes)
                .putLong(segmentMaxTimestampMs)
                .putLong(abortedFrom);
        epochs.encode(to);
        producers.encode(to);
        aborted.encode(to);
        times.encode(to);
        to.flip();
        return to.putInt(CRC_AT, checksum(to));
    }

    /**
     * Reads a checkpoint.
     *
     * @param from from its position to its limit
     * @throws CheckpointFormatException if it is damaged or of a later version
     */
    public static LogState decode(ByteBuffer from) {
        ByteBuffer in = from.slice();
        if (in.remaining() < HEADER_BYTES || in.get(0) != VERSION) {
            throw new CheckpointFormatException("not a checkpoint of version " + VERSION);
        }
        if (in.getInt(CRC_AT) != checksum(in)) {
            throw new CheckpointFormatException("a checkpoint with a wrong checksum");
        }
        in.position(COVERED_AT);
        try {
            long offset = in.getLong();
            long segmentStart = in.getLong();
            long segmentBytes = in.getLong();
            long segmentMaxTimestampMs = in.getLong();
            long abortedFrom = in.getLong();
            LogState state = new LogState(
                    EpochTable.decode(in), ProducerStates.decode(in), AbortedTxns.decode(in), TimeIndex.decode(in));
            state.offset = offset;
            state.segmentStart = segmentStart;
            state.segmentBytes = segmentBytes;
            state.segmentMaxTimestampMs = segmentMaxTimestampMs;
            state.abortedFrom = abortedFrom;
            return state;
        } catch (BufferUnderflowException e) {
            throw new CheckpointFormatException("a checkpoint that ends early");
        }
    }

    /** Reads a count and checks that what it counts can be there. */
    static int count(ByteBuffer from, int bytesEachMin) {
        int count = from.getInt();
        if (count < 0 || count > from.remaining() / bytesEachMin) {
            throw new CheckpointFormatException("a count of " + count + " in " + from.remaining() + " bytes");
        }
        return count;
    }

    private static int checksum(ByteBuffer in) {
        CRC32C crc = new CRC32C();
        crc.update(in.duplicate().position(COVERED_AT));
        return (int) crc.getValue();
    }
}
