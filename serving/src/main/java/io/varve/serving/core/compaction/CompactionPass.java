package io.varve.serving.core.compaction;

import io.varve.base.Invariant;
import io.varve.protocol.record.RecordBatchHeader;
import java.nio.ByteBuffer;
import java.util.function.Consumer;

/**
 * One compaction of a partition: finds the newest record of each key in the dirty part ({@link #observe}), then goes through the whole log up to
 * there ({@link #rewrite}) and hands on what stays. Offsets never change (I-2) and never leave a gap: what goes becomes padding, a batch without records
 * that spans the offsets.
 *
 * <p>What stays:
 *
 * <ul>
 *   <li>the newest record of each key; older ones and those without a key go, and so does all of an aborted transaction;
 *   <li>a tombstone, until {@code delete.retention.ms} after the first pass that saw it. That time is written into the batch (KIP-534), so
 *       that any owner knows it and a stock client reads past it;
 *   <li>a transaction's marker, while a batch of the transaction stays, and then as long as a tombstone would;
 *   <li>the last batch of each producer that is remembered, without records if need be: its sequence goes on from there (KIP-98).
 * </ul>
 *
 * <p>The stretch must begin at the log's start: a tombstone may only go when nothing older of its key is left anywhere. It must end at or below the last
 * stable offset, so that every transaction in it is decided. Batches above where the dirty part was read to are handed on as they are.
 *
 * <p>One use, by one thread. No batch that comes in is changed or kept.
 */
public final class CompactionPass implements Rewriting {

    private final CompactionRules rules;
    private final NewestOffsets newest;
    private final RecordCodec codec;
    private final FateOfTxns txns;
    private final RecordWriter writer = new RecordWriter();

    private boolean full;
    private long observedEnd;

    private boolean rewriting;
    private boolean segmentBegins;
    private long nextOffset;
    /** Where padding that is due begins, or -1. */
    private long paddingFrom = -1;

    private int paddingEpoch;

    private long bytesRead;
    private long bytesKept;
    private long recordsRead;
    private long recordsKept;
    private long recordsWithoutKey;

    /**
     * @param dirtyOffset from where on {@link #observe} will be handed batches
     * @param newest empty; this pass's until it ends
     * @param codec this pass's until it ends
     */
    public CompactionPass(CompactionRules rules, long dirtyOffset, NewestOffsets newest, RecordCodec codec) {
        Invariant.check(newest.size() == 0, "a pass begins with no keys", newest.size());
        this.rules = rules;
        this.newest = newest;
        this.codec = codec;
        observedEnd = dirtyOffset;
        txns = new FateOfTxns(rules.aborted(), rules.lastBatches());
    }

    /**
     * First reading: the next batch of the dirty part, in order.
     *
     * @param batch one whole batch from its position to its limit, which stay
     * @return false if there is no room for all its keys: the pass covers what was observed before
     * @throws BatchFormatException if it can't be read: the pass is over
     */
    @Override
    public boolean observe(ByteBuffer batch) {
        int at = checked(batch);
        Invariant.check(!rewriting && !full, "observing ends when the keys have no room", observedEnd);
        long base = RecordBatchHeader.baseOffset(batch, at);
        Invariant.check(base == observedEnd, "what is observed follows what was", base, observedEnd);
        if (!RecordBatchHeader.isControl(batch, at) && !txns.isAborted(batch, at) && !putKeys(batch, at)) {
            full = true;
            return false;
        }
        observedEnd = RecordBatchHeader.lastOffset(batch, at) + 1;
        return true;
    }

    /** The pass covers what lies below. */
    @Override
    public long observedEnd() {
        return observedEnd;
    }

    /**
     * Takes up the keys of a batch. If there is no room for all, some are in nevertheless, as are those of segments that weren't observed to the end: their
     * records are decided and stay in the log, and are newer than what goes for their sake.
     */
    private boolean putKeys(ByteBuffer batch, int at) {
        ByteBuffer records = inflated(batch, at);
        RecordCursor record = new RecordCursor(records, RecordBatchHeader.count(batch, at));
        long base = RecordBatchHeader.baseOffset(batch, at);
        while (record.next()) {
            checkOffset(record, batch, at);
            if (record.keyBytes() >= 0
                    && !newest.put(records, record.keyAt(), record.keyBytes(), base + record.offsetDelta())) {
                return false;
            }
        }
        return true;
    }

    /**
     * Second reading: the next batch of the log, from its start to the end of the pass's last segment, in order.
     *
     * @param batch one whole batch from its position to its limit, which stay
     * @param sink takes what stays, in order and without a gap. Its buffers hold one batch each from position to limit: either a view of
     *     {@code batch}, or one of the receiver's own
     * @return false if all records stay as they are; a header that is of no use any longer takes as much room as the padding in its place
     * @throws BatchFormatException if it can't be read: the pass is over
     */
    @Override
    public boolean rewrite(ByteBuffer batch, Consumer<ByteBuffer> sink) {
        int at = checked(batch);
        long base = RecordBatchHeader.baseOffset(batch, at);
        Invariant.check(
                !rewriting || base == nextOffset || segmentBegins && base > nextOffset,
                "what is rewritten follows what was, unless segments have left the log",
                base,
                nextOffset);
        segmentBegins = false;
        rewriting = true;
        nextOffset = RecordBatchHeader.lastOffset(batch, at) + 1;
        bytesRead += batch.remaining();
        recordsRead += RecordBatchHeader.count(batch, at);
        if (base >= observedEnd) {
            keep(batch, at, batch.slice(), sink);
            return false;
        }
        if (RecordBatchHeader.isPadding(batch, at)) {
            leaveOut(batch, at, sink);
            return false;
        }
        return RecordBatchHeader.isControl(batch, at) ? rewriteMarker(batch, at, sink) : rewriteData(batch, at, sink);
    }

    /**
     * An output segment ends here, where the last batch that was rewritten does: padding that is due goes to the sink.
     *
     * @param endOffset exclusive
     */
    @Override
    public void endSegment(long endOffset, Consumer<ByteBuffer> sink) {
        Invariant.check(endOffset == nextOffset, "a segment ends where its last batch does", endOffset, nextOffset);
        pad(endOffset, sink);
        segmentBegins = true;
    }

    /** What it did. */
    public CompactionFigures figures() {
        return new CompactionFigures(newest.size(), bytesRead, bytesKept, recordsRead, recordsKept, recordsWithoutKey);
    }

    // ---- markers
    // ----------------------------------------------------------------------------------------------------------------

    private boolean rewriteMarker(ByteBuffer batch, int at, Consumer<ByteBuffer> sink) {
        boolean hasTime = RecordBatchHeader.hasDeleteHorizon(batch, at)
                && RecordBatchHeader.baseTimestampMs(batch, at) > rules.nowMs();
        if (txns.isNeeded(batch, at) || hasTime) {
            keep(batch, at, batch.slice(), sink);
            return false;
        }
        if (!RecordBatchHeader.hasDeleteHorizon(batch, at)) {
            // Nobody is shown a marker's time, so its record isn't written anew for another base.
            ByteBuffer copy =
                    ByteBuffer.allocate(batch.remaining()).put(batch.slice()).flip();
            RecordBatchHeader.rewrite(
                    copy,
                    0,
                    copy.remaining(),
                    RecordBatchHeader.count(copy, 0),
                    rules.deleteHorizonMs(),
                    RecordBatchHeader.maxTimestampMs(copy, 0),
                    true);
            keep(batch, at, copy, sink);
        } else {
            leaveOut(batch, at, sink);
        }
        return true;
    }

    // ---- data
    // -------------------------------------------------------------------------------------------------------------------

    private boolean rewriteData(ByteBuffer batch, int at, Consumer<ByteBuffer> sink) {
        if (RecordBatchHeader.count(batch, at) == 0 || txns.isAborted(batch, at)) {
            keepWithoutRecords(batch, at, sink);
            return RecordBatchHeader.count(batch, at) > 0;
        }
        ByteBuffer records = inflated(batch, at);
        boolean plain = RecordBatchHeader.compression(batch, at) == 0;
        Survivors found = survivors(records, batch, at);
        if (found.count == 0) {
            keepWithoutRecords(batch, at, sink);
            return true;
        } else if (found.count == RecordBatchHeader.count(batch, at) && !needsHorizon(found, batch, at)) {
            keep(batch, at, batch.slice(), sink);
            return false;
        } else {
            boolean horizon = RecordBatchHeader.hasDeleteHorizon(batch, at) || found.tombstones > 0;
            long baseTimestampMs = needsHorizon(found, batch, at)
                    ? rules.deleteHorizonMs()
                    : RecordBatchHeader.baseTimestampMs(batch, at);
            ByteBuffer kept = write(records, batch, at, baseTimestampMs, plain, found);
            long maxTimestampMs = RecordBatchHeader.isLogAppendTime(batch, at)
                    ? RecordBatchHeader.maxTimestampMs(batch, at)
                    : found.maxTimestampMs;
            RecordBatchHeader.rewrite(kept, 0, kept.remaining(), found.count, baseTimestampMs, maxTimestampMs, horizon);
            keep(batch, at, kept, sink);
            return true;
        }
    }

    private static boolean needsHorizon(Survivors found, ByteBuffer batch, int at) {
        return found.tombstones > 0 && !RecordBatchHeader.hasDeleteHorizon(batch, at);
    }

    /** What of a batch stays. */
    private static final class Survivors {
        private int count;
        private int tombstones;
        private long bytes;
        private long maxTimestampMs = RecordBatchHeader.NO_TIMESTAMP;
    }

    private Survivors survivors(ByteBuffer records, ByteBuffer batch, int at) {
        Survivors found = new Survivors();
        RecordCursor record = new RecordCursor(records, RecordBatchHeader.count(batch, at));
        long baseTimestampMs = RecordBatchHeader.baseTimestampMs(batch, at);
        while (record.next()) {
            checkOffset(record, batch, at);
            if (stays(records, record, batch, at)) {
                found.count++;
                found.tombstones += record.isTombstone() ? 1 : 0;
                found.bytes += record.recordBytes();
                found.maxTimestampMs = Math.max(found.maxTimestampMs, baseTimestampMs + record.timestampDeltaMs());
            } else if (record.keyBytes() < 0) {
                recordsWithoutKey++;
            }
        }
        return found;
    }

    private boolean stays(ByteBuffer records, RecordCursor record, ByteBuffer batch, int at) {
        if (record.keyBytes() < 0) {
            return false;
        }
        if (record.isTombstone()
                && RecordBatchHeader.hasDeleteHorizon(batch, at)
                && RecordBatchHeader.baseTimestampMs(batch, at) <= rules.nowMs()) {
            return false;
        }
        long newestOffset = newest.get(records, record.keyAt(), record.keyBytes());
        return newestOffset <= RecordBatchHeader.baseOffset(batch, at) + record.offsetDelta();
    }

    /** The batch with the records that stay, as they are but for their times' base; its header is still the old one. */
    private ByteBuffer write(
            ByteBuffer records, ByteBuffer batch, int at, long baseTimestampMs, boolean plain, Survivors found) {
        long laterMs = baseTimestampMs - RecordBatchHeader.baseTimestampMs(batch, at);
        long growthBytesMax = laterMs == 0 ? 0 : (long) found.count * RecordWriter.GROWTH_BYTES_MAX;
        writer.begin(plain ? RecordBatchHeader.BYTES : 0, found.bytes + growthBytesMax);
        RecordCursor record = new RecordCursor(records, RecordBatchHeader.count(batch, at));
        while (record.next()) {
            if (stays(records, record, batch, at)) {
                writer.add(records, record, record.timestampDeltaMs() - laterMs);
            }
        }
        ByteBuffer written = writer.written();
        ByteBuffer kept = plain
                ? ByteBuffer.allocate(written.remaining()).put(written).flip()
                : codec.deflate(RecordBatchHeader.compression(batch, at), written, RecordBatchHeader.BYTES);
        return kept.put(0, batch, at, RecordBatchHeader.BYTES);
    }

    private void keepWithoutRecords(ByteBuffer batch, int at, Consumer<ByteBuffer> sink) {
        if (!txns.isLastOfProducer(batch, at)) {
            leaveOut(batch, at, sink);
        } else if (RecordBatchHeader.count(batch, at) == 0) {
            keep(batch, at, batch.slice(), sink);
        } else {
            keep(batch, at, RecordBatchHeader.emptied(batch, at), sink);
        }
    }

    // ---- output
    // -----------------------------------------------------------------------------------------------------------------

    private void keep(ByteBuffer batch, int at, ByteBuffer kept, Consumer<ByteBuffer> sink) {
        pad(RecordBatchHeader.baseOffset(batch, at), sink);
        if (!RecordBatchHeader.isControl(batch, at)) {
            txns.onKept(batch, at);
        }
        recordsKept += RecordBatchHeader.count(kept, kept.position());
        bytesKept += kept.remaining();
        sink.accept(kept);
    }

    private void leaveOut(ByteBuffer batch, int at, Consumer<ByteBuffer> sink) {
        long base = RecordBatchHeader.baseOffset(batch, at);
        int epoch = RecordBatchHeader.leaderEpoch(batch, at);
        boolean joins = paddingFrom >= 0
                && epoch == paddingEpoch
                && RecordBatchHeader.lastOffset(batch, at) - paddingFrom <= Integer.MAX_VALUE;
        if (!joins) {
            // Where an epoch begins is known from its first batch, so a padding must not reach into another's.
            pad(base, sink);
            paddingFrom = base;
            paddingEpoch = epoch;
        }
    }

    private void pad(long endOffset, Consumer<ByteBuffer> sink) {
        if (paddingFrom >= 0) {
            ByteBuffer padding = RecordBatchHeader.padding(paddingFrom, endOffset - 1, paddingEpoch);
            paddingFrom = -1;
            bytesKept += padding.remaining();
            sink.accept(padding);
        }
    }

    // ---- input
    // ------------------------------------------------------------------------------------------------------------------

    private static int checked(ByteBuffer batch) {
        int at = batch.position();
        if (!RecordBatchHeader.isIntact(batch, at) || RecordBatchHeader.sizeInBytes(batch, at) != batch.remaining()) {
            throw new BatchFormatException("not one whole batch with its checksum");
        }
        return at;
    }

    private static void checkOffset(RecordCursor record, ByteBuffer batch, int at) {
        if (record.offsetDelta() < 0 || record.offsetDelta() > RecordBatchHeader.lastOffsetDelta(batch, at)) {
            throw new BatchFormatException("a record whose offset isn't in its batch");
        }
    }

    private ByteBuffer inflated(ByteBuffer batch, int at) {
        ByteBuffer records = batch.slice();
        records.position(RecordBatchHeader.BYTES);
        int compression = RecordBatchHeader.compression(batch, at);
        return compression == 0 ? records : codec.inflate(compression, records, rules.inflatedBytesMax());
    }
}
