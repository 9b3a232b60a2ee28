package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.serving.cache.TailCache;
import io.varve.serving.core.partition.LeaderEffects.Deposition;
import io.varve.serving.core.partition.LeaderOptions;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.PartitionLeader;
import io.varve.serving.core.partition.ProducerStates;
import io.varve.serving.core.partition.SegmentWriter;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One partition under one epoch: from the takeover to the loss. Everything but what is said to be safe for any thread happens on the partition's
 * loop; calls from elsewhere hop there.
 *
 * <p>What is appended goes through {@link LogAppends}, what is read through {@link LogReader}, and who waits for more is at {@link LogWaits}.
 */
final class OwnedLog implements PartitionLog, ReadableLog, CompactableLog {

    private static final Logger LOG = LoggerFactory.getLogger(OwnedLog.class);
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
    private final LogAppends appends;
    private final LogWaits waits;
    private final List<ProgressListener> listeners = new ArrayList<>();
    private final long startedNs;

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
        this.appends = new LogAppends(context, loop, this, tail);
        this.waits = new LogWaits(loop, this);
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
        replicas = topic.map(Topic::replicas).orElse(replicas);
        return context.options().leader(replicas, topic.map(t -> loop.configsOf(t, view().clusterConfigs())));
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
        appends.onServing();
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
        appends.onHighWatermark();
        waits.onHighWatermark(highWatermark, lastStable);
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
        LOG.info(
                "event=log_lost partition={} epoch={} why={} unacknowledged={}",
                id,
                epoch,
                why,
                appends.unacknowledged());
        tail.clear();
        appends.onLost();
        waits.onLost();
        events.onLost(this, wasServing, why);
    }

    /** Entries have been given to the leader. */
    void onAppended() {
        uncountPending();
        publish();
        waits.onAssigned(leader.endOffset());
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
        loop.run(() -> appends.append(batches, options, started));
        return started;
    }

    /** Whether what is written now has fewer copies than it should. */
    boolean isUnderReplicated() {
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

    @Override
    public CompletableFuture<AppendResult> appendMarker(Marker marker) {
        return startMarker(marker).acknowledged();
    }

    @Override
    public Started startMarker(Marker marker) {
        Started started = new Started(new CompletableFuture<>(), new CompletableFuture<>());
        loop.run(() -> appends.appendMarker(marker, started));
        return started;
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

    @Override
    public Runnable whenReadable(long offset, Isolation isolation, Runnable callback) {
        return waits.whenReadable(offset, isolation, callback);
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
        return serving && appends.isInTransaction(producerId, producerEpoch);
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
