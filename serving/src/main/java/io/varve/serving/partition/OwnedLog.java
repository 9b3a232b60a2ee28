package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigs;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.cache.TailCache;
import io.varve.serving.core.fetch.WaitingFetches;
import io.varve.serving.core.partition.EndMarker;
import io.varve.serving.core.partition.LeaderEffects.Deposition;
import io.varve.serving.core.partition.LeaderOptions;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.PartitionLeader;
import io.varve.serving.core.partition.ProducerStates;
import io.varve.serving.core.partition.ProducerStates.Verdict;
import io.varve.serving.core.partition.RecentMarkers;
import io.varve.serving.core.partition.SegmentWriter;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition under one epoch: from the takeover to the loss. Everything but what is said to be safe for any thread happens on the partition's
 * loop; calls from elsewhere hop there.
 *
 * <p>An append goes: admission, producer check, offsets, state, cache, leader; in one turn of the loop, so the order of calls is the order of
 * offsets. It is answered when the leader's high watermark passes it.
 */
final class OwnedLog implements PartitionLog, ReadableLog, CompactableLog {

    private static final Logger LOG = LoggerFactory.getLogger(OwnedLog.class);
    private static final int EPOCH_AT = 12;
    private static final long EXPIRY_INTERVAL_NS = 60_000_000_000L;

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final PartitionId id;
    private final int epoch;
    private final OwnershipEvents events;
    private final SegmentReader reader;
    private final SegmentStreams streams;
    private final LogReader logReader;
    private final TailCache tail;
    private final PendingAppends pending = new PendingAppends();
    private final WaitingFetches untilAcknowledged = new WaitingFetches();
    private final WaitingFetches untilStable = new WaitingFetches();
    private final WaitingFetches untilAssigned = new WaitingFetches();
    private final List<ProgressListener> listeners = new ArrayList<>();
    /** Epochs of the producers with an open transaction: what other threads may look at. */
    private final ConcurrentHashMap<Long, Short> openTransactions = new ConcurrentHashMap<>();

    private final RecentMarkers recentMarkers = new RecentMarkers();

    private final long startedNs;

    private final boolean isInternal;

    private PartitionLeader<ByteBuf> leader;
    private LogState state;
    private PartitionState partition;
    /** R. */
    private int replicas = 3;

    private long localStart;
    private long highWatermark;
    private long lastStable;
    private long pendingBytesCounted;
    private long nextExpiryNs;
    private volatile boolean lost;
    private Optional<Integer> successor = Optional.empty();

    private volatile boolean serving;
    private volatile Offsets offsets = new Offsets(0, 0, 0, 0, 0);

    /** Who is told that a log begins or ends to be served; on its loop. */
    interface OwnershipEvents {
        void onServing(OwnedLog log);

        void onLost(OwnedLog log, boolean wasServing, Deposition why);
    }

    OwnedLog(PartitionContext context, PartitionLoop loop, PartitionState partition, OwnershipEvents events) {
        this.context = context;
        this.loop = loop;
        this.id = partition.id();
        this.epoch = partition.epoch();
        this.partition = partition;
        this.localStart = localStartOf(partition);
        this.events = events;
        this.reader = new SegmentReader(context);
        this.streams = new SegmentStreams(context, loop, this);
        this.tail = new TailCache(loop.tailBudget());
        this.logReader = new LogReader(context, loop, this, reader, tail);
        this.startedNs = context.clock().nanoTime();
        this.isInternal = context.metadata()
                .view()
                .topic(id.topic())
                .filter(topic -> InternalTopics.isInternal(topic.name()))
                .isPresent();
    }

    // ---- tenure
    // -----------------------------------------------------------------------------------------------------------------

    /** Begins the takeover. On the loop. */
    void start() {
        Optional<Topic> topic = view().topic(id.topic());
        LeaderOptions options = optionsOf(topic);
        leader = new PartitionLeader<>(
                epoch, options, context.rules(), new TenureEffects(context, loop, this, reader, streams), now());
        nextExpiryNs = now() + EXPIRY_INTERVAL_NS;
        loop.add(this);
        leader.start(partition, view().pendingSegment(id, epoch).orElse(null));
    }

    private MetadataView view() {
        return context.metadata().view();
    }

    private LeaderOptions optionsOf(Optional<Topic> topic) {
        TopicConfigs configs =
                topic.map(t -> loop.configsOf(t, view().clusterConfigs())).orElse(null);
        PartitionOptions o = context.options();
        replicas = topic.map(Topic::replicas).orElse(replicas);
        LeaderOptions base = LeaderOptions.of(
                replicas,
                configs == null ? 1L << 30 : configs.segmentBytes(),
                configs == null ? Long.MAX_VALUE : nanos(configs.segmentMs()));
        return new LeaderOptions(
                base.replicas(),
                base.segmentBytesMax(),
                base.segmentAgeNsMax(),
                base.prepareBytes(),
                o.checkpointBytes(),
                o.pendingBytesMax(),
                o.lagBytesMax(),
                nanos(o.lagMs()),
                base.retryNs(),
                base.avoidNs(),
                base.trailNs(),
                base.releaseNs());
    }

    private static long nanos(long ms) {
        return ms >= Long.MAX_VALUE / 1_000_000 ? Long.MAX_VALUE : ms * 1_000_000;
    }

    /** The metadata of this partition or of its topic changed, under the same epoch. On the loop. */
    void onMetadata() {
        PartitionState changed =
                view().partition(id).filter(p -> p.epoch() == epoch).orElse(partition);
        boolean startMoved = changed.logStartOffset() > partition.logStartOffset();
        partition = changed;
        localStart = localStartOf(changed);
        leader.onOptions(optionsOf(view().topic(id.topic())));
        if (isTailRewritten()) {
            // Nothing says any longer what in it was aborted.
            tail.clear();
        }
        if (state != null && startMoved) {
            state.epochs().onLogStart(changed.logStartOffset());
        }
        leaveBookiesBeingEmptied();
        publish();
    }

    private boolean isTailRewritten() {
        return tail.firstOffset() >= 0
                && partition
                        .chain()
                        .covering(tail.firstOffset())
                        .filter(SegmentDescriptor::isCompacted)
                        .isPresent();
    }

    @Override
    public CompletableFuture<CompactionSource> forCompaction(long dirtyOffset, long endOffset) {
        CompletableFuture<CompactionSource> source = new CompletableFuture<>();
        loop.run(() -> {
            if (lost || !serving) {
                source.completeExceptionally(new IllegalStateException("the partition isn't served here"));
                return;
            }
            List<ProducerStates.LastBatch> lastBatches = state.producers().lastBatches();
            logReader.aborted(dirtyOffset, endOffset, (aborted, error) -> {
                if (error == LogError.NONE) {
                    source.complete(new CompactionSource(lastBatches, aborted));
                } else {
                    source.completeExceptionally(
                            new IllegalStateException("aborted transactions are not known: " + error));
                }
            });
        });
        return source;
    }

    /** Only so can they ever be empty: a segment that nobody writes to would stay open for days. */
    private void leaveBookiesBeingEmptied() {
        TreeSet<BookieId> draining = new TreeSet<>();
        for (BookieInfo bookie : view().bookies()) {
            if (bookie.state() == BookieInfo.State.DRAINING) {
                draining.add(bookie.id());
            }
        }
        if (!draining.isEmpty()) {
            leader.leave(draining);
        }
    }

    /** Gives the partition back, to that broker if one is named. On the loop. */
    void release(Optional<Integer> to) {
        successor = to;
        leader.release();
    }

    Optional<Integer> successor() {
        return successor;
    }

    /** Stops at once. On the loop. */
    void depose(Deposition why) {
        leader.depose(why);
    }

    void tick(int usableBookies) {
        leader.tick(now(), usableBookies);
        if (state != null && now() >= nextExpiryNs) {
            nextExpiryNs = now() + EXPIRY_INTERVAL_NS;
            state.producers()
                    .expire(context.clock().wallTimeMs(), context.options().producerIdExpirationMs());
        }
    }

    PartitionLeader<ByteBuf> leader() {
        return leader;
    }

    /** Null until it is loaded. */
    @Override
    public LogState state() {
        return state;
    }

    @Override
    public PartitionState partition() {
        return partition;
    }

    @Override
    public boolean isServing() {
        return serving;
    }

    @Override
    public boolean isLost() {
        return lost;
    }

    void onStateLoaded(LogState loaded) {
        state = loaded;
        tail.clear();
    }

    /** An entry that a takeover carries into its new segment. */
    void onCarried(long firstOffset, long lastOffset, ByteBuf payload, int sizeBytes) {
        state.apply(payload.nioBuffer(), sizeBytes, context.clock().wallTimeMs());
        tail.add(firstOffset, lastOffset, payload);
    }

    void onStreamFailed(BookieId bookie, BookieStatus status) {
        LOG.info("event=stream_failed partition={} epoch={} bookie={} status={}", id, epoch, bookie, status);
    }

    void onServing(long firstHighWatermark) {
        highWatermark = firstHighWatermark;
        lastStable = state.producers().lastStableOffset(highWatermark);
        state.epochs().onLogStart(partition.logStartOffset());
        for (ProducerStates.Info producer : state.producers().all()) {
            if (producer.txnFirstOffset() >= 0) {
                openTransactions.put(producer.producerId(), producer.epoch());
            }
        }
        publish();
        serving = true;
        context.metrics().onServing(now() - startedNs);
        LOG.info(
                "event=serving partition={} epoch={} highWatermark={} takeoverUs={}",
                id,
                epoch,
                highWatermark,
                (now() - startedNs) / 1_000);
        events.onServing(this);
        leaveBookiesBeingEmptied();
    }

    void onHighWatermark(long raised) {
        highWatermark = raised;
        if (!serving) {
            return;
        }
        lastStable = state.producers().lastStableOffset(highWatermark);
        uncountPending();
        publish();
        pending.onHighWatermark(highWatermark, partition.logStartOffset());
        untilAcknowledged.onBound(highWatermark);
        untilStable.onBound(lastStable);
        if (!listeners.isEmpty()) {
            for (ProgressListener listener : List.copyOf(listeners)) {
                listener.onProgress(highWatermark, lastStable);
            }
        }
    }

    void onDeposed(Deposition why) {
        boolean wasServing = serving;
        serving = false;
        lost = true;
        loop.remove(this);
        streams.closeAll();
        uncountPending();
        LOG.info("event=log_lost partition={} epoch={} why={} unacknowledged={}", id, epoch, why, pending.size());
        tail.clear();
        pending.fail(LogError.NOT_OWNER, partition.logStartOffset(), "the partition moved to another broker");
        untilAcknowledged.onLost();
        untilStable.onLost();
        untilAssigned.onLost();
        events.onLost(this, wasServing, why);
    }

    private void uncountPending() {
        long bytes = leader.windowBytes();
        context.pendingBytes().addAndGet(bytes - pendingBytesCounted);
        pendingBytesCounted = bytes;
    }

    private void publish() {
        long logStart = partition.logStartOffset();
        offsets = new Offsets(
                logStart,
                Math.max(logStart, localStart),
                lastStable,
                highWatermark,
                leader == null ? 0 : leader.endOffset());
    }

    /** Where the first segment begins that bookies hold; a chain may be long, so this is looked for when it changes, and not at each append. */
    private static long localStartOf(PartitionState partition) {
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (!segment.replicas().isEmpty()) {
                return segment.startOffset();
            }
        }
        return partition.logStartOffset();
    }

    private long now() {
        return context.clock().nanoTime();
    }

    // ---- PartitionLog
    // -----------------------------------------------------------------------------------------------------------

    @Override
    public PartitionId id() {
        return id;
    }

    @Override
    public int epoch() {
        return epoch;
    }

    @Override
    public int ownedEpoch() {
        return epoch;
    }

    @Override
    public Offsets offsets() {
        return offsets;
    }

    @Override
    public CompletableFuture<AppendResult> append(List<Batch> batches, AppendOptions options) {
        return start(batches, options).acknowledged();
    }

    @Override
    public Started start(List<Batch> batches, AppendOptions options) {
        Started started = new Started(new CompletableFuture<>(), new CompletableFuture<>());
        loop.run(() -> appendOnLoop(batches, options, started));
        return started;
    }

    private void appendOnLoop(List<Batch> batches, AppendOptions options, Started started) {
        int index = 0;
        try {
            LogError refusal = admit(batches);
            if (refusal != LogError.NONE) {
                refuse(started, refusal, null);
                return;
            }
            long base = leader.endOffset();
            for (; index < batches.size(); index++) {
                Batch batch = batches.get(index);
                Verdict verdict = check(batch, options);
                if (verdict == Verdict.DUPLICATE && batches.size() == 1) {
                    answerRepeat(started);
                    return;
                }
                if (verdict != Verdict.ACCEPT) {
                    // Only coordinators append several batches at once, all of one producer or of none: the first
                    // decides for all.
                    Invariant.check(index == 0, "batches of one append are accepted together", index);
                    refuseForGood(started, errorOf(verdict), messageOf(verdict, batch));
                    return;
                }
                enter(batch.payload(), batch.records());
                if (batch.transactional()) {
                    openTransactions.put(batch.producerId(), batch.producerEpoch());
                }
            }
            long end = leader.endOffset();
            started.assigned().complete(new Assigned(LogError.NONE, base, end));
            pending.add(base, end - 1, started.acknowledged());
            afterAppend();
        } finally {
            for (; index < batches.size(); index++) {
                batches.get(index).payload().release();
            }
        }
    }

    private void afterAppend() {
        uncountPending();
        publish();
        untilAssigned.onBound(leader.endOffset());
    }

    private LogError admit(List<Batch> batches) {
        if (lost || !serving) {
            return LogError.NOT_OWNER;
        }
        if (batches.isEmpty()) {
            return LogError.INVALID_RECORD;
        }
        long bytes = 0;
        boolean single = batches.size() == 1;
        for (Batch batch : batches) {
            bytes += EntryFormat.HEADER_BYTES + batch.payload().readableBytes();
            if (batch.payload().readableBytes() > EntryFormat.PAYLOAD_BYTES_MAX) {
                return LogError.TOO_LARGE;
            }
            if (!single && batch.producerId() >= 0 && batch.baseSequence() >= 0 && batch != batches.get(0)) {
                return LogError.INVALID_RECORD;
            }
        }
        // What waits for full bookies must not keep back what drains them (S25 of the user reports).
        if (!isInternal && context.pendingBytes().get() > context.options().pendingBytesTotalMax()) {
            return LogError.OVERLOADED;
        }
        return switch (leader.admit(bytes)) {
            case TAKEN -> LogError.NONE;
            case NOT_SERVING -> LogError.NOT_OWNER;
            case OVERLOADED -> LogError.OVERLOADED;
            case NOT_ENOUGH_REPLICAS -> LogError.NOT_ENOUGH_REPLICAS;
        };
    }

    private Verdict check(Batch batch, AppendOptions options) {
        ProducerStates producers = state.producers();
        if (batch.producerId() < 0) {
            return Verdict.ACCEPT;
        }
        return options.origin() == AppendOptions.Origin.COORDINATOR
                ? producers.checkCoordinator(batch.producerId(), batch.producerEpoch())
                : producers.checkClient(
                        batch.producerId(),
                        batch.producerEpoch(),
                        batch.baseSequence(),
                        batch.records(),
                        batch.transactional(),
                        options.verified()
                                && !recentMarkers.mayHaveEndedSince(batch.producerId(), options.verifiedAtOffset()));
    }

    /** Gives a payload its offsets and sends it on its way. Takes the reference over. */
    private void enter(ByteBuf payload, int records) {
        long first = leader.endOffset();
        long last = first + records - 1;
        int at = payload.readerIndex();
        payload.setLong(at, first);
        payload.setInt(at + EPOCH_AT, epoch);
        ByteBuffer bytes = payload.nioBuffer();
        int crc = EntryFormat.checksum(first, last, bytes);
        int size = EntryFormat.HEADER_BYTES + bytes.remaining();
        long maxTimestampMs = io.varve.protocol.record.RecordBatchHeader.maxTimestampMs(bytes, bytes.position());
        state.apply(bytes, size, context.clock().wallTimeMs());
        tail.add(first, last, payload);
        leader.append(first, last, crc, size, maxTimestampMs, payload);
        if (isUnderReplicated()) {
            context.metrics().onUnderReplicatedAppend();
        }
    }

    /** Whether what is written now has fewer copies than it should. */
    private boolean isUnderReplicated() {
        SegmentWriter writer = leader.writing();
        return writer == null || writer.replicasWritten() < replicas;
    }

    /** What this partition adds to its loop's count. On the loop. */
    PartitionFigures figures() {
        SegmentWriter writer = leader.writing();
        TreeMap<BookieId, Long> lags = new TreeMap<>();
        for (int r = 0; writer != null && r < writer.replicas().size(); r++) {
            lags.put(writer.replicas().get(r).bookie(), writer.lagRecords(r));
        }
        return new PartitionFigures(serving ? 1 : 0, serving ? 0 : 1, serving && isUnderReplicated() ? 1 : 0, lags);
    }

    private void answerRepeat(Started started) {
        long first = state.producers().duplicateFirstOffset();
        long last = state.producers().duplicateLastOffset();
        started.assigned().complete(new Assigned(LogError.NONE, first, last + 1));
        pending.addRepeat(first, last, state.producers().duplicateTimestampMs(), started.acknowledged());
        pending.onHighWatermark(highWatermark, partition.logStartOffset());
    }

    private void refuse(Started started, LogError error, String message) {
        started.assigned().complete(new Assigned(error, -1, -1));
        started.acknowledged().complete(new AppendResult(error, -1, -1, -1, partition.logStartOffset(), message));
    }

    /**
     * Refuses what a producer or a transaction can't recover from. Only who is surely the owner may do that: one that was replaced and doesn't know it yet judges by the sequences
     * and epochs that it last saw, so the metadata service is asked first (I-14, I-17).
     */
    private void refuseForGood(Started started, LogError error, String message) {
        loop.on(context.metadata().linearizable(), (view, failure) -> {
            boolean owned = failure == null && serving && context.isOwned(view, id, epoch);
            refuse(started, owned ? error : LogError.NOT_OWNER, owned ? message : null);
        });
    }

    private static LogError errorOf(Verdict verdict) {
        return switch (verdict) {
            case ACCEPT, DUPLICATE, ALREADY_ENDED -> LogError.NONE;
            case OUT_OF_ORDER -> LogError.OUT_OF_ORDER_SEQUENCE;
            case STALE_EPOCH -> LogError.INVALID_PRODUCER_EPOCH;
            case INVALID_TXN_STATE -> LogError.INVALID_TXN_STATE;
            case STALE_COORDINATOR -> LogError.COORDINATOR_FENCED;
        };
    }

    private String messageOf(Verdict verdict, Batch batch) {
        return verdict + ": producer " + batch.producerId() + " epoch " + batch.producerEpoch() + " sequence "
                + batch.baseSequence() + " in " + id;
    }

    @Override
    public CompletableFuture<AppendResult> appendMarker(Marker marker) {
        return startMarker(marker).acknowledged();
    }

    @Override
    public Started startMarker(Marker marker) {
        Started started = new Started(new CompletableFuture<>(), new CompletableFuture<>());
        loop.run(() -> markerOnLoop(marker, started));
        return started;
    }

    private void markerOnLoop(Marker marker, Started started) {
        if (lost || !serving) {
            refuse(started, LogError.NOT_OWNER, null);
            return;
        }
        LogError refusal = switch (leader.admit(EntryFormat.HEADER_BYTES + EndMarker.BYTES)) {
            case TAKEN, OVERLOADED ->
                LogError.NONE; // A marker lets others go on; it is small, and there is one for each transaction.
            case NOT_SERVING -> LogError.NOT_OWNER;
            case NOT_ENOUGH_REPLICAS -> LogError.NOT_ENOUGH_REPLICAS;
        };
        if (refusal != LogError.NONE) {
            refuse(started, refusal, null);
            return;
        }
        Verdict verdict = state.producers()
                .checkMarker(
                        marker.producerId(),
                        marker.producerEpoch(),
                        marker.coordinatorEpoch(),
                        marker.transactionVersion());
        if (verdict == Verdict.ALREADY_ENDED) {
            // The marker is in the log, maybe not acknowledged yet: wait for all that is under way.
            long last = leader.endOffset() - 1;
            started.assigned().complete(new Assigned(LogError.NONE, last, last + 1));
            pending.addRepeat(last, last, context.clock().wallTimeMs(), started.acknowledged());
            pending.onHighWatermark(highWatermark, partition.logStartOffset());
        } else if (verdict != Verdict.ACCEPT) {
            String what = verdict + ": marker of producer " + marker.producerId() + " in " + id;
            refuseForGood(started, errorOf(verdict), what);
        } else {
            ByteBuffer bytes = ByteBuffer.allocate(EndMarker.BYTES);
            new EndMarker(marker.producerId(), marker.producerEpoch(), marker.coordinatorEpoch(), marker.commit())
                    .write(bytes, context.clock().wallTimeMs());
            long base = leader.endOffset();
            enter(Unpooled.wrappedBuffer(bytes.flip()), 1);
            openTransactions.remove(marker.producerId());
            recentMarkers.onMarker(marker.producerId(), base);
            started.assigned().complete(new Assigned(LogError.NONE, base, base + 1));
            pending.add(base, base, started.acknowledged());
            afterAppend();
        }
    }

    @Override
    public CompletableFuture<ReadResult> read(long fromOffset, int maxBytes, boolean atLeastOne, Isolation isolation) {
        CompletableFuture<ReadResult> result = new CompletableFuture<>();
        loop.run(() -> logReader.read(fromOffset, maxBytes, atLeastOne, isolation, result));
        return result;
    }

    /** The bound for a reader. On the loop. */
    @Override
    public long bound(Isolation isolation) {
        return switch (isolation) {
            case READ_UNCOMMITTED -> highWatermark;
            case READ_COMMITTED -> lastStable;
            case LOG_END -> leader.endOffset();
        };
    }

    private static long bound(Offsets at, Isolation isolation) {
        return switch (isolation) {
            case READ_UNCOMMITTED -> at.highWatermark();
            case READ_COMMITTED -> at.lastStable();
            case LOG_END -> at.end();
        };
    }

    @Override
    public Runnable whenReadable(long offset, Isolation isolation, Runnable callback) {
        if (!serving || bound(offsets, isolation) > offset) {
            callback.run();
            return () -> {};
        }
        AtomicBoolean done = new AtomicBoolean();
        Runnable once = () -> {
            if (done.compareAndSet(false, true)) {
                callback.run();
            }
        };
        WaitingFetches waiting = switch (isolation) {
            case READ_UNCOMMITTED -> untilAcknowledged;
            case READ_COMMITTED -> untilStable;
            case LOG_END -> untilAssigned;
        };
        WaitingFetches.Waiter[] waiter = new WaitingFetches.Waiter[1];
        loop.run(() -> {
            if (!serving || bound(isolation) > offset) {
                once.run();
            } else if (!done.get()) {
                waiter[0] = waiting.add(offset, once);
            }
        });
        return () -> {
            if (done.compareAndSet(false, true)) {
                loop.run(() -> {
                    if (waiter[0] != null) {
                        waiting.cancel(waiter[0]);
                    }
                });
            }
        };
    }

    @Override
    public CompletableFuture<TimestampResult> offsetForTimestamp(long timestampMs, Isolation isolation) {
        CompletableFuture<TimestampResult> result = new CompletableFuture<>();
        loop.run(() -> logReader.offsetForTimestamp(timestampMs, bound(isolation), result));
        return result;
    }

    @Override
    public CompletableFuture<TimestampResult> maxTimestamp() {
        CompletableFuture<TimestampResult> result = new CompletableFuture<>();
        loop.run(() -> logReader.maxTimestamp(result));
        return result;
    }

    @Override
    public CompletableFuture<EpochEnd> endOffsetForEpoch(int asked) {
        CompletableFuture<EpochEnd> result = new CompletableFuture<>();
        loop.run(() -> {
            if (lost || !serving) {
                result.complete(new EpochEnd(LogError.NOT_OWNER, -1, -1));
            } else if (asked > epoch || asked < 0) {
                result.complete(new EpochEnd(LogError.NONE, -1, -1));
            } else {
                result.complete(new EpochEnd(
                        LogError.NONE,
                        state.epochs().epochAt(asked),
                        state.epochs().endOf(asked, leader.endOffset())));
            }
        });
        return result;
    }

    @Override
    public CompletableFuture<DeleteRecordsResult> deleteRecords(long offset) {
        CompletableFuture<DeleteRecordsResult> result = new CompletableFuture<>();
        loop.run(() -> {
            long target = offset == -1 ? highWatermark : offset;
            if (lost || !serving) {
                result.complete(new DeleteRecordsResult(LogError.NOT_OWNER, -1));
            } else if (target < 0 || target > highWatermark) {
                result.complete(new DeleteRecordsResult(LogError.OFFSET_OUT_OF_RANGE, -1));
            } else if (target <= partition.logStartOffset()) {
                result.complete(new DeleteRecordsResult(LogError.NONE, partition.logStartOffset()));
            } else {
                loop.on(context.metadata().advanceLogStart(id, epoch, target), (changed, failure) -> {
                    if (failure != null) {
                        LogError error = MetadataOutcome.of(failure) == PartitionLeader.Outcome.SUPERSEDED
                                ? LogError.NOT_OWNER
                                : LogError.TIMED_OUT;
                        result.complete(new DeleteRecordsResult(error, -1));
                    } else {
                        if (!lost) {
                            onMetadata();
                        }
                        result.complete(new DeleteRecordsResult(LogError.NONE, changed.logStartOffset()));
                    }
                });
            }
        });
        return result;
    }

    @Override
    public CompletableFuture<List<ProducerInfo>> producers() {
        CompletableFuture<List<ProducerInfo>> result = new CompletableFuture<>();
        loop.run(() -> result.complete(
                state == null
                        ? List.of()
                        : state.producers().all().stream()
                                .map(p -> new ProducerInfo(
                                        p.producerId(),
                                        p.epoch(),
                                        p.lastSequence(),
                                        p.lastUpdateMs(),
                                        p.coordinatorEpoch(),
                                        p.txnFirstOffset()))
                                .toList()));
        return result;
    }

    @Override
    public boolean isInTransaction(long producerId, short producerEpoch) {
        Short open = openTransactions.get(producerId);
        return serving && open != null && open == producerEpoch;
    }

    @Override
    public void addProgressListener(ProgressListener listener) {
        loop.run(() -> {
            listeners.add(listener);
            if (serving) {
                listener.onProgress(highWatermark, lastStable);
            }
        });
    }

    @Override
    public void removeProgressListener(ProgressListener listener) {
        loop.run(() -> listeners.remove(listener));
    }
}
