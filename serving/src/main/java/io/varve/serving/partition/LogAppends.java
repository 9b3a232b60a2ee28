package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.Invariant;
import io.varve.metadata.model.InternalTopics;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.cache.TailCache;
import io.varve.serving.core.partition.EndMarker;
import io.varve.serving.core.partition.ProducerStates;
import io.varve.serving.core.partition.ProducerStates.Verdict;
import io.varve.serving.core.partition.RecentMarkers;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog.AppendOptions;
import io.varve.serving.log.PartitionLog.AppendResult;
import io.varve.serving.log.PartitionLog.Assigned;
import io.varve.serving.log.PartitionLog.Batch;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Marker;
import io.varve.serving.log.PartitionLog.Started;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What an owner does with what producers and coordinators send it. An append goes: admission, producer check, offsets, state, cache, leader; in one turn of the loop, so the order of calls is
 * the order of offsets. It is answered when the leader's high watermark passes it. Used on the partition's loop, but for {@link #isInTransaction}.
 */
final class LogAppends {

    private static final int EPOCH_AT = 12;

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final OwnedLog log;
    private final TailCache tail;
    private final boolean isInternal;
    private final PendingAppends pending = new PendingAppends();
    private final RecentMarkers recentMarkers = new RecentMarkers();
    /** Epochs of the producers with an open transaction: what other threads may look at. */
    private final ConcurrentHashMap<Long, Short> openTransactions = new ConcurrentHashMap<>();

    LogAppends(PartitionContext context, PartitionLoop loop, OwnedLog log, TailCache tail) {
        this.context = context;
        this.loop = loop;
        this.log = log;
        this.tail = tail;
        this.isInternal = context.metadata()
                .view()
                .topic(log.id().topic())
                .filter(topic -> InternalTopics.isInternal(topic.name()))
                .isPresent();
    }

    // ---- the tenure
    // -------------------------------------------------------------------------------------------------------------

    /** The state is loaded, and appends may come. */
    void onServing() {
        for (ProducerStates.Info producer : log.state().producers().all()) {
            if (producer.txnFirstOffset() >= 0) {
                openTransactions.put(producer.producerId(), producer.epoch());
            }
        }
    }

    /** More is acknowledged. */
    void onHighWatermark() {
        pending.onHighWatermark(
                log.bound(Isolation.READ_UNCOMMITTED), log.partition().logStartOffset());
    }

    /** What becomes of that which isn't acknowledged is unknown here. */
    void onLost() {
        pending.fail(LogError.NOT_OWNER, log.partition().logStartOffset(), "the partition moved to another broker");
    }

    /** How many appends aren't acknowledged. */
    int unacknowledged() {
        return pending.size();
    }

    /** Whether a producer has a transaction open here under that epoch. Any thread. */
    boolean isInTransaction(long producerId, short producerEpoch) {
        Short open = openTransactions.get(producerId);
        return open != null && open == producerEpoch;
    }

    // ---- appends
    // ----------------------------------------------------------------------------------------------------------------

    /** Appends batches, whose references it takes over, or says why not. */
    void append(List<Batch> batches, AppendOptions options, Started started) {
        int index = 0;
        try {
            LogError refusal = admit(batches);
            if (refusal != LogError.NONE) {
                refuse(started, refusal, null);
                return;
            }
            long base = log.leader().endOffset();
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
            long end = log.leader().endOffset();
            started.assigned().complete(new Assigned(LogError.NONE, base, end));
            pending.add(base, end - 1, started.acknowledged());
            log.onAppended();
        } finally {
            for (; index < batches.size(); index++) {
                batches.get(index).payload().release();
            }
        }
    }

    private LogError admit(List<Batch> batches) {
        if (log.isLost() || !log.isServing()) {
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
        return switch (log.leader().admit(bytes)) {
            case TAKEN -> LogError.NONE;
            case NOT_SERVING -> LogError.NOT_OWNER;
            case OVERLOADED -> LogError.OVERLOADED;
            case NOT_ENOUGH_REPLICAS -> LogError.NOT_ENOUGH_REPLICAS;
        };
    }

    private Verdict check(Batch batch, AppendOptions options) {
        ProducerStates producers = log.state().producers();
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
        long first = log.leader().endOffset();
        long last = first + records - 1;
        int at = payload.readerIndex();
        payload.setLong(at, first);
        payload.setInt(at + EPOCH_AT, log.epoch());
        ByteBuffer bytes = payload.nioBuffer();
        int crc = EntryFormat.checksum(first, last, bytes);
        int size = EntryFormat.HEADER_BYTES + bytes.remaining();
        long maxTimestampMs = RecordBatchHeader.maxTimestampMs(bytes, bytes.position());
        log.state().apply(bytes, size, context.clock().wallTimeMs());
        tail.add(first, last, payload);
        log.leader().append(first, last, crc, size, maxTimestampMs, payload);
        if (log.isUnderReplicated()) {
            context.metrics().onUnderReplicatedAppend();
        }
    }

    private void answerRepeat(Started started) {
        long first = log.state().producers().duplicateFirstOffset();
        long last = log.state().producers().duplicateLastOffset();
        started.assigned().complete(new Assigned(LogError.NONE, first, last + 1));
        pending.addRepeat(first, last, log.state().producers().duplicateTimestampMs(), started.acknowledged());
        onHighWatermark();
    }

    private void refuse(Started started, LogError error, String message) {
        started.assigned().complete(new Assigned(error, -1, -1));
        started.acknowledged()
                .complete(new AppendResult(error, -1, -1, -1, log.partition().logStartOffset(), message));
    }

    /**
     * Refuses what a producer or a transaction can't recover from. Only who is surely the owner may do that: one that was replaced and doesn't know it yet judges by the sequences
     * and epochs that it last saw, so the metadata service is asked first (I-14, I-17).
     */
    private void refuseForGood(Started started, LogError error, String message) {
        loop.on(context.metadata().linearizable(), (view, failure) -> {
            boolean owned = failure == null && log.isServing() && context.isOwned(view, log.id(), log.epoch());
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
                + batch.baseSequence() + " in " + log.id();
    }

    // ---- markers
    // ----------------------------------------------------------------------------------------------------------------

    /** Ends a transaction, or says why not. */
    void appendMarker(Marker marker, Started started) {
        if (log.isLost() || !log.isServing()) {
            refuse(started, LogError.NOT_OWNER, null);
            return;
        }
        LogError refusal = switch (log.leader().admit(EntryFormat.HEADER_BYTES + EndMarker.BYTES)) {
            case TAKEN, OVERLOADED ->
                LogError.NONE; // A marker lets others go on; it is small, and there is one for each transaction.
            case NOT_SERVING -> LogError.NOT_OWNER;
            case NOT_ENOUGH_REPLICAS -> LogError.NOT_ENOUGH_REPLICAS;
        };
        if (refusal != LogError.NONE) {
            refuse(started, refusal, null);
            return;
        }
        Verdict verdict = log.state()
                .producers()
                .checkMarker(
                        marker.producerId(),
                        marker.producerEpoch(),
                        marker.coordinatorEpoch(),
                        marker.transactionVersion());
        if (verdict == Verdict.ALREADY_ENDED) {
            // The marker is in the log, maybe not acknowledged yet: wait for all that is under way.
            long last = log.leader().endOffset() - 1;
            started.assigned().complete(new Assigned(LogError.NONE, last, last + 1));
            pending.addRepeat(last, last, context.clock().wallTimeMs(), started.acknowledged());
            onHighWatermark();
        } else if (verdict != Verdict.ACCEPT) {
            String what = verdict + ": marker of producer " + marker.producerId() + " in " + log.id();
            refuseForGood(started, errorOf(verdict), what);
        } else {
            ByteBuffer bytes = ByteBuffer.allocate(EndMarker.BYTES);
            new EndMarker(marker.producerId(), marker.producerEpoch(), marker.coordinatorEpoch(), marker.commit())
                    .write(bytes, context.clock().wallTimeMs());
            long base = log.leader().endOffset();
            enter(Unpooled.wrappedBuffer(bytes.flip()), 1);
            openTransactions.remove(marker.producerId());
            recentMarkers.onMarker(marker.producerId(), base);
            started.assigned().complete(new Assigned(LogError.NONE, base, base + 1));
            pending.add(base, base, started.acknowledged());
            log.onAppended();
        }
    }
}
