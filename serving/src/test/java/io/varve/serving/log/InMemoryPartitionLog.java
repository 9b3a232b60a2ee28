package io.varve.serving.log;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.compaction.CompactionPass;
import io.varve.serving.core.compaction.CompactionRules;
import io.varve.serving.core.compaction.NewestOffsets;
import io.varve.serving.core.partition.AbortedTxns.Aborted;
import io.varve.serving.core.partition.ProducerStates.LastBatch;
import io.varve.serving.kafka.record.KafkaRecordCodec;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.zip.CRC32C;

/** One tenure over an {@link InMemoryPartition}. Futures complete on the thread that causes it. */
public final class InMemoryPartitionLog implements PartitionLog {

    private static final int LAST_OFFSET_DELTA = 23;
    private static final int REMEMBERED_BATCHES = 5;

    private final PartitionId id;
    private final InMemoryPartition kept;
    private final int epoch;
    private final Map<Long, Producer> producers = new TreeMap<>();
    private final Deque<Unacknowledged> unacknowledged = new ArrayDeque<>();
    private final List<ProgressListener> listeners = new CopyOnWriteArrayList<>();
    private final List<Waiter> waiters = new ArrayList<>();

    private boolean deposed;
    private boolean holdingAcks;
    private boolean holdingReads;
    private LogError refusal = LogError.NONE;
    private final List<Runnable> heldReads = new ArrayList<>();
    private long recordsRead;
    private long bytesRead;

    InMemoryPartitionLog(PartitionId id, InMemoryPartition kept, int epoch) {
        this.id = id;
        this.kept = kept;
        this.epoch = epoch;
        synchronized (kept) {
            kept.truncateToHighWatermark();
            kept.epochStarts.put(epoch, kept.end);
            kept.batches.forEach((base, bytes) -> replay(base, bytes));
        }
    }

    // ---- the knobs
    // -------------------------------------------------------------------------------------------------------

    /** From now on appends get offsets but no acknowledgement. */
    public void holdAcks() {
        holdingAcks = true;
    }

    /** Acknowledges what waits and all that follows. */
    public void releaseAcks() {
        holdingAcks = false;
        acknowledge();
    }

    /** Answers what waits for its quorum with {@code error}; it stays in the log. */
    public void failUnacknowledged(LogError error) {
        List<Unacknowledged> failed;
        synchronized (kept) {
            failed = new ArrayList<>(unacknowledged);
            unacknowledged.clear();
        }
        failed.forEach(u -> u.future.complete(failed(error)));
    }

    /** Refuses every append with {@code error} until told NONE. */
    public void refuse(LogError error) {
        refusal = error;
    }

    /** From now on reads wait. */
    public void holdReads() {
        holdingReads = true;
    }

    /** Carries out the reads that wait. */
    public void releaseReads() {
        holdingReads = false;
        List<Runnable> held;
        synchronized (kept) {
            held = new ArrayList<>(heldReads);
            heldReads.clear();
        }
        held.forEach(Runnable::run);
    }

    /** Does what the owner does in the background: compacts what lies below {@code endOffset}, at most the last stable offset. */
    public void compact(long endOffset) {
        synchronized (kept) {
            List<Aborted> aborted = new ArrayList<>();
            kept.aborted.forEach(a ->
                    aborted.add(new Aborted(a.producerId(), a.firstOffset(), a.markerOffset(), a.markerOffset() + 1)));
            List<LastBatch> lastBatches = new ArrayList<>();
            producers.forEach((id, producer) -> lastBatches.add(producer.lastBatch(id)));
            CompactionPass pass = new CompactionPass(
                    new CompactionRules(0, 0, Integer.MAX_VALUE, aborted, lastBatches),
                    kept.logStart,
                    new NewestOffsets(1 << 20, 1, 2),
                    new KafkaRecordCodec());
            Map<Long, byte[]> below = new TreeMap<>(kept.batches.headMap(endOffset));
            below.values().forEach(batch -> pass.observe(ByteBuffer.wrap(batch)));
            below.values().forEach(batch -> pass.rewrite(ByteBuffer.wrap(batch), this::putCompacted));
            pass.endSegment(endOffset, this::putCompacted);
        }
    }

    /** In the place of all that begins in it. */
    private void putCompacted(ByteBuffer batch) {
        byte[] bytes = new byte[batch.remaining()];
        batch.get(batch.position(), bytes);
        long base = batch.getLong(batch.position());
        long last = base + batch.getInt(batch.position() + LAST_OFFSET_DELTA);
        kept.batches.subMap(base, true, last, true).clear();
        kept.batches.put(base, bytes);
    }

    /** How many records all reads of this tenure have answered. */
    public long recordsRead() {
        synchronized (kept) {
            return recordsRead;
        }
    }

    /** How many bytes that was, with batches without records. */
    public long bytesRead() {
        synchronized (kept) {
            return bytesRead;
        }
    }

    /** How many batches lie between log start and end. */
    public int batches() {
        synchronized (kept) {
            return kept.batches.size();
        }
    }

    void depose() {
        List<Waiter> waiting;
        synchronized (kept) {
            deposed = true;
            waiting = new ArrayList<>(waiters);
            waiters.clear();
        }
        failUnacknowledged(LogError.NOT_OWNER);
        releaseReads();
        waiting.forEach(w -> w.callback.run());
    }

    // ---- the port
    // --------------------------------------------------------------------------------------------------------

    @Override
    public PartitionId id() {
        return id;
    }

    @Override
    public int epoch() {
        return epoch;
    }

    @Override
    public Offsets offsets() {
        synchronized (kept) {
            return new Offsets(kept.logStart, kept.logStart, lastStable(), kept.highWatermark, kept.end);
        }
    }

    @Override
    public CompletableFuture<AppendResult> append(List<Batch> batches, AppendOptions options) {
        return start(batches, options).acknowledged();
    }

    @Override
    public Started start(List<Batch> batches, AppendOptions options) {
        Started started;
        synchronized (kept) {
            started = startLocked(batches, options);
        }
        batches.forEach(b -> b.payload().release());
        if (!holdingAcks) {
            acknowledge();
        }
        return started;
    }

    private Started startLocked(List<Batch> batches, AppendOptions options) {
        if (deposed || refusal != LogError.NONE) {
            return refused(deposed ? LogError.NOT_OWNER : refusal);
        }
        if (options.origin() == AppendOptions.Origin.CLIENT) {
            for (Batch batch : batches) {
                Check check = check(batch);
                if (check.error != LogError.NONE) {
                    return refused(check.error);
                }
                if (check.repeat >= 0) {
                    return repeated(check.repeat, batch.records());
                }
            }
        }
        long base = kept.end;
        for (Batch batch : batches) {
            put(bytesOf(batch.payload()), batch.records());
        }
        return assigned(base);
    }

    @Override
    public CompletableFuture<AppendResult> appendMarker(Marker marker) {
        return startMarker(marker).acknowledged();
    }

    @Override
    public Started startMarker(Marker marker) {
        Started started;
        synchronized (kept) {
            Producer producer = producers.get(marker.producerId());
            if (deposed || refusal != LogError.NONE) {
                started = refused(deposed ? LogError.NOT_OWNER : refusal);
            } else if (producer != null && marker.producerEpoch() < producer.epoch) {
                started = refused(LogError.INVALID_PRODUCER_EPOCH);
            } else if (producer != null && marker.coordinatorEpoch() < producer.coordinatorEpoch) {
                started = refused(LogError.COORDINATOR_FENCED);
            } else if (producer != null && isRepeat(producer, marker)) {
                started = kept.highWatermark == kept.end ? repeated(kept.end - 1, 1) : assigned(kept.end - 1);
            } else {
                long base = kept.end;
                put(markerBytes(marker), 1);
                started = assigned(base);
            }
        }
        if (!holdingAcks) {
            acknowledge();
        }
        return started;
    }

    /** From version 2 on the marker's epoch is one that no record of its transaction has. */
    private static boolean isRepeat(Producer producer, Marker marker) {
        return marker.transactionVersion() >= 2
                && marker.producerEpoch() == producer.epoch
                && producer.txnStart < 0
                && producer.recent.isEmpty();
    }

    @Override
    public CompletableFuture<ReadResult> read(long fromOffset, int maxBytes, boolean atLeastOne, Isolation isolation) {
        CompletableFuture<ReadResult> result = new CompletableFuture<>();
        synchronized (kept) {
            if (holdingReads) {
                heldReads.add(() -> result.complete(readNow(fromOffset, maxBytes, atLeastOne, isolation)));
                return result;
            }
        }
        result.complete(readNow(fromOffset, maxBytes, atLeastOne, isolation));
        return result;
    }

    private ReadResult readNow(long fromOffset, int maxBytes, boolean atLeastOne, Isolation isolation) {
        synchronized (kept) {
            if (deposed) {
                return new ReadResult(LogError.NOT_OWNER, List.of(), List.of(), offsets());
            }
            long bound = bound(isolation);
            if (fromOffset < kept.logStart || fromOffset > kept.end) {
                return new ReadResult(LogError.OFFSET_OUT_OF_RANGE, List.of(), List.of(), offsets());
            }
            List<ByteBuf> batches = new ArrayList<>();
            byte[] empty = null;
            int bytes = 0;
            long last = fromOffset;
            Long from = kept.batches.floorKey(fromOffset);
            for (Map.Entry<Long, byte[]> batch :
                    kept.batches.tailMap(from == null ? fromOffset : from, true).entrySet()) {
                boolean fits = bytes + batch.getValue().length <= maxBytes || (atLeastOne && batches.isEmpty());
                if (InMemoryPartition.lastOffset(batch) < fromOffset) {
                    continue;
                }
                if (batch.getKey() >= bound || !fits) {
                    break;
                }
                last = InMemoryPartition.lastOffset(batch);
                if (batch.getValue().length == RecordBatchHeader.BYTES) {
                    empty = batch.getValue(); // Left out unless nothing follows, as the owner does.
                    continue;
                }
                batches.add(Unpooled.wrappedBuffer(batch.getValue().clone()));
                bytes += batch.getValue().length;
                recordsRead += RecordBatchHeader.count(ByteBuffer.wrap(batch.getValue()), 0);
            }
            if (batches.isEmpty() && empty != null) {
                batches.add(Unpooled.wrappedBuffer(empty.clone()));
                bytes += empty.length;
            }
            bytesRead += bytes;
            return new ReadResult(LogError.NONE, batches, aborted(isolation, fromOffset, last), offsets());
        }
    }

    private List<AbortedTxn> aborted(Isolation isolation, long from, long last) {
        return isolation != Isolation.READ_COMMITTED
                ? List.of()
                : kept.aborted.stream()
                        .filter(a -> a.firstOffset() <= last && a.markerOffset() >= from)
                        .map(InMemoryPartition.Aborted::asResult)
                        .toList();
    }

    @Override
    public Runnable whenReadable(long offset, Isolation isolation, Runnable callback) {
        synchronized (kept) {
            if (!deposed && offset >= bound(isolation)) {
                Waiter waiter = new Waiter(offset, isolation, callback);
                waiters.add(waiter);
                return () -> {
                    synchronized (kept) {
                        waiters.remove(waiter);
                    }
                };
            }
        }
        callback.run();
        return () -> {};
    }

    @Override
    public CompletableFuture<TimestampResult> offsetForTimestamp(long timestampMs, Isolation isolation) {
        synchronized (kept) {
            for (Map.Entry<Long, byte[]> batch :
                    kept.batches.headMap(bound(isolation)).entrySet()) {
                long max = ByteBuffer.wrap(batch.getValue()).getLong(35);
                if (max >= timestampMs && batch.getKey() >= kept.logStart) {
                    return found(batch.getKey(), max);
                }
            }
        }
        return CompletableFuture.completedFuture(new TimestampResult(LogError.NONE, Optional.empty()));
    }

    @Override
    public CompletableFuture<TimestampResult> maxTimestamp() {
        synchronized (kept) {
            Map.Entry<Long, byte[]> newest = null;
            for (Map.Entry<Long, byte[]> batch : kept.batches.entrySet()) {
                if (newest == null || maxTime(batch) > maxTime(newest)) {
                    newest = batch;
                }
            }
            return newest == null
                    ? CompletableFuture.completedFuture(new TimestampResult(LogError.NONE, Optional.empty()))
                    : found(newest.getKey(), maxTime(newest));
        }
    }

    @Override
    public CompletableFuture<EpochEnd> endOffsetForEpoch(int asked) {
        synchronized (kept) {
            Integer floor = kept.epochStarts.floorKey(asked);
            if (asked > epoch || floor == null) {
                return CompletableFuture.completedFuture(new EpochEnd(LogError.NONE, -1, -1));
            }
            Map.Entry<Integer, Long> next = kept.epochStarts.higherEntry(floor);
            return CompletableFuture.completedFuture(
                    new EpochEnd(LogError.NONE, floor, next == null ? kept.end : next.getValue()));
        }
    }

    @Override
    public CompletableFuture<DeleteRecordsResult> deleteRecords(long offset) {
        synchronized (kept) {
            long start = offset == -1 ? kept.highWatermark : offset;
            if (start < 0 || start > kept.highWatermark) {
                return CompletableFuture.completedFuture(
                        new DeleteRecordsResult(LogError.OFFSET_OUT_OF_RANGE, kept.logStart));
            }
            kept.logStart = Math.max(kept.logStart, start);
            kept.batches.entrySet().removeIf(b -> InMemoryPartition.lastOffset(b) < kept.logStart);
            return CompletableFuture.completedFuture(new DeleteRecordsResult(LogError.NONE, kept.logStart));
        }
    }

    @Override
    public boolean isInTransaction(long producerId, short producerEpoch) {
        synchronized (kept) {
            Producer producer = producers.get(producerId);
            return producer != null && producer.epoch == producerEpoch && producer.txnStart >= 0;
        }
    }

    @Override
    public CompletableFuture<List<ProducerInfo>> producers() {
        synchronized (kept) {
            List<ProducerInfo> infos = new ArrayList<>();
            producers.forEach((pid, p) -> infos.add(
                    new ProducerInfo(pid, p.epoch, p.lastSequence, p.lastTimestampMs, p.coordinatorEpoch, p.txnStart)));
            return CompletableFuture.completedFuture(infos);
        }
    }

    @Override
    public void addProgressListener(ProgressListener listener) {
        listeners.add(listener);
    }

    @Override
    public void removeProgressListener(ProgressListener listener) {
        listeners.remove(listener);
    }

    // ---- within
    // ----------------------------------------------------------------------------------------------------------

    private void acknowledge() {
        List<Unacknowledged> done;
        List<Runnable> readable = new ArrayList<>();
        Offsets offsets;
        synchronized (kept) {
            if (deposed || kept.highWatermark == kept.end) {
                return;
            }
            done = new ArrayList<>(unacknowledged);
            unacknowledged.clear();
            kept.highWatermark = kept.end;
            offsets = offsets();
            waiters.removeIf(w -> w.offset < bound(w.isolation) && readable.add(w.callback));
        }
        listeners.forEach(l -> l.onProgress(offsets.highWatermark(), offsets.lastStable()));
        done.forEach(u ->
                u.future.complete(new AppendResult(LogError.NONE, u.base, u.end - 1, -1, offsets.logStart(), null)));
        readable.forEach(Runnable::run);
    }

    private Started assigned(long base) {
        Unacknowledged waiting = new Unacknowledged(base, kept.end, new CompletableFuture<>());
        unacknowledged.add(waiting);
        return new Started(
                CompletableFuture.completedFuture(new Assigned(LogError.NONE, base, kept.end)), waiting.future);
    }

    private Started repeated(long base, int records) {
        return new Started(
                CompletableFuture.completedFuture(new Assigned(LogError.NONE, base, base + records)),
                CompletableFuture.completedFuture(
                        new AppendResult(LogError.NONE, base, base + records - 1, -1, kept.logStart, null)));
    }

    private Started refused(LogError error) {
        return new Started(
                CompletableFuture.completedFuture(new Assigned(error, -1, -1)),
                CompletableFuture.completedFuture(failed(error)));
    }

    private AppendResult failed(LogError error) {
        return new AppendResult(error, -1, -1, -1, kept.logStart, null);
    }

    private void put(byte[] batch, int records) {
        ByteBuffer header = ByteBuffer.wrap(batch);
        header.putLong(0, kept.end);
        header.putInt(12, epoch);
        kept.batches.put(kept.end, batch);
        replay(kept.end, batch);
        kept.end += records;
    }

    private void replay(long base, byte[] batch) {
        ByteBuffer header = ByteBuffer.wrap(batch);
        long producerId = header.getLong(43);
        short attributes = header.getShort(21);
        if (producerId < 0) {
            return;
        }
        Producer producer = producers.computeIfAbsent(producerId, p -> new Producer());
        short producerEpoch = header.getShort(51);
        if (producerEpoch != producer.epoch) {
            producer.recent.clear();
            producer.lastSequence = -1;
            producer.epoch = producerEpoch;
        }
        producer.lastTimestampMs = header.getLong(35);
        if ((attributes & 0x20) != 0) {
            onMarker(producer, producerId, base, header);
            return;
        }
        int sequence = header.getInt(53);
        int delta = header.getInt(LAST_OFFSET_DELTA);
        producer.lastSequence = sequence < 0 ? sequence : sequence + delta;
        producer.recent.addLast(new long[] {sequence, base, delta});
        if (producer.recent.size() > REMEMBERED_BATCHES) {
            producer.recent.removeFirst();
        }
        if ((attributes & 0x10) != 0 && producer.txnStart < 0) {
            producer.txnStart = base;
        }
    }

    private void onMarker(Producer producer, long producerId, long base, ByteBuffer batch) {
        boolean abort = batch.getShort(61 + 7) == 0;
        producer.coordinatorEpoch = batch.getInt(batch.limit() - 5);
        if (abort && producer.txnStart >= 0 && kept.aborted.stream().noneMatch(a -> a.markerOffset() == base)) {
            kept.aborted.add(new InMemoryPartition.Aborted(producerId, producer.txnStart, base));
        }
        producer.txnStart = -1;
    }

    private Check check(Batch batch) {
        Producer producer = producers.get(batch.producerId());
        if (batch.producerId() < 0 || producer == null) {
            return new Check(LogError.NONE, -1);
        }
        if (batch.producerEpoch() < producer.epoch) {
            return new Check(LogError.INVALID_PRODUCER_EPOCH, -1);
        }
        if (batch.producerEpoch() > producer.epoch) {
            return new Check(batch.baseSequence() == 0 ? LogError.NONE : LogError.OUT_OF_ORDER_SEQUENCE, -1);
        }
        for (long[] recent : producer.recent) {
            if (recent[0] == batch.baseSequence() && recent[2] == batch.records() - 1) {
                return new Check(LogError.NONE, recent[1]);
            }
        }
        boolean next = producer.lastSequence < 0 || batch.baseSequence() == producer.lastSequence + 1;
        return new Check(next ? LogError.NONE : LogError.OUT_OF_ORDER_SEQUENCE, -1);
    }

    private long bound(Isolation isolation) {
        return switch (isolation) {
            case READ_UNCOMMITTED -> kept.highWatermark;
            case READ_COMMITTED -> lastStable();
            case LOG_END -> kept.end;
        };
    }

    private long lastStable() {
        long stable = kept.highWatermark;
        for (Producer producer : producers.values()) {
            if (producer.txnStart >= 0) {
                stable = Math.min(stable, producer.txnStart);
            }
        }
        return stable;
    }

    private CompletableFuture<TimestampResult> found(long offset, long timestampMs) {
        return CompletableFuture.completedFuture(
                new TimestampResult(LogError.NONE, Optional.of(new TimestampResult.Found(offset, timestampMs, epoch))));
    }

    private static long maxTime(Map.Entry<Long, byte[]> batch) {
        return ByteBuffer.wrap(batch.getValue()).getLong(35);
    }

    private static byte[] bytesOf(ByteBuf payload) {
        byte[] bytes = new byte[payload.readableBytes()];
        payload.getBytes(payload.readerIndex(), bytes);
        return bytes;
    }

    /** A control batch of one record: key (version 0, type), value (version 0, coordinator epoch). */
    private static byte[] markerBytes(Marker marker) {
        ByteBuffer batch = ByteBuffer.allocate(78);
        batch.putLong(0)
                .putInt(66)
                .putInt(0)
                .put((byte) 2)
                .putInt(0)
                .putShort((short) 0x30)
                .putInt(0);
        batch.putLong(0).putLong(0).putLong(marker.producerId()).putShort(marker.producerEpoch());
        batch.putInt(-1).putInt(1);
        batch.put((byte) (16 << 1)).put((byte) 0).put((byte) 0).put((byte) 0);
        batch.put((byte) (4 << 1)).putShort((short) 0).putShort((short) (marker.commit() ? 1 : 0));
        batch.put((byte) (6 << 1))
                .putShort((short) 0)
                .putInt(marker.coordinatorEpoch())
                .put((byte) 0);
        CRC32C crc = new CRC32C();
        crc.update(batch.array(), 21, batch.capacity() - 21);
        return batch.putInt(17, (int) crc.getValue()).array();
    }

    private record Waiter(long offset, Isolation isolation, Runnable callback) {}

    private record Unacknowledged(long base, long end, CompletableFuture<AppendResult> future) {}

    private record Check(LogError error, long repeat) {}

    private static final class Producer {
        private final Deque<long[]> recent = new ArrayDeque<>();
        private short epoch = -1;
        private int lastSequence = -1;
        private int coordinatorEpoch = -1;
        private long lastTimestampMs = -1;
        private long txnStart = -1;

        private LastBatch lastBatch(long id) {
            return new LastBatch(
                    id, epoch, recent.isEmpty() ? LastBatch.NO_BATCH : recent.getLast()[1] + recent.getLast()[2]);
        }
    }
}
