package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.api.MetadataClient.Roll;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.serving.core.partition.LeaderEffects;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.core.partition.SegmentWriter;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.Set;
import java.util.SortedSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Carries out what one partition's leader wants, and brings the answers back to the partition's loop. */
final class TenureEffects implements LeaderEffects<ByteBuf> {

    private static final Logger LOG = LoggerFactory.getLogger(TenureEffects.class);
    private static final int CARRY_CHUNK_BYTES = 1 << 20;

    private final PartitionContext context;
    private final PartitionLoop loop;
    private final OwnedLog log;
    private final SegmentReader reader;
    private final SegmentStreams streams;
    /** The newest two offsets at which checkpoints were sent for the segment that is written. */
    private long checkpointOffset = -1;

    private long earlierCheckpointOffset = -1;

    TenureEffects(
            PartitionContext context, PartitionLoop loop, OwnedLog log, SegmentReader reader, SegmentStreams streams) {
        this.context = context;
        this.loop = loop;
        this.log = log;
        this.reader = reader;
        this.streams = streams;
    }

    @Override
    public void fence(int ticket, SegmentDescriptor open, int replica) {
        Replica target = open.replicas().get(replica);
        Optional<BookieAddress> address = context.addressOf(target.bookie());
        if (address.isEmpty()) {
            loop.execute(() -> log.leader().onFenceFailed(ticket, replica));
            return;
        }
        FenceRequest request = new FenceRequest(log.id(), log.epoch(), open.id(), target.incarnation());
        context.fences()
                .fence(
                        address.get(),
                        request,
                        loop,
                        reply -> loop.execute(() -> onFenceReply(ticket, replica, target, reply)));
    }

    private void onFenceReply(int ticket, int replica, Replica target, FenceReply reply) {
        boolean sameDirectory =
                target.incarnation() == 0 || reply.incarnation() == 0 || reply.incarnation() == target.incarnation();
        switch (reply.status()) {
            case FENCED -> log.leader().onHigherFence();
            case OK -> {
                if (sameDirectory) {
                    log.leader().onFenced(ticket, replica, reply.end(), reply.highWatermark());
                } else {
                    log.leader().onFenceFailed(ticket, replica);
                }
            }
            case NO_SUCH_SEGMENT -> {
                // Absence is proved only by a bookie that knows which directory it should be in and still has that
                // (I-5).
                if (target.incarnation() != 0) {
                    log.leader().onFencedAbsent(ticket, replica);
                } else {
                    log.leader().onFenceFailed(ticket, replica);
                }
            }
            default -> {
                LOG.debug(
                        "event=fence_failed partition={} bookie={} status={}",
                        log.id(),
                        target.bookie(),
                        reply.status());
                log.leader().onFenceFailed(ticket, replica);
            }
        }
    }

    @Override
    public void loadState(int ticket, long atOffset, long[] holders) {
        StateLoader loader = new StateLoader(context, loop, reader, log.partition(), atOffset);
        loop.on(loader.load(), (state, failure) -> {
            if (failure != null) {
                LOG.warn(
                        "event=state_unavailable partition={} epoch={} offset={} reason=\"{}\"",
                        log.id(),
                        log.epoch(),
                        atOffset,
                        failure.getMessage());
                log.leader().onStateFailed(ticket);
            } else if (log.leader().isLoading(ticket)) {
                onStateLoaded(ticket, atOffset, state);
            }
        });
    }

    private void onStateLoaded(int ticket, long atOffset, LogState state) {
        long bytes = state.segmentBytes();
        long maxTimestampMs = state.segmentMaxTimestampMs();
        // Which replicas hold the checkpoint that was loaded isn't known, so the new segment's take over all that it
        // says.
        state.onSegment(atOffset, LogState.KEEP_ABORTED);
        log.onStateLoaded(state);
        log.leader().onStateLoaded(ticket, bytes, maxTimestampMs);
    }

    @Override
    public void readCarry(int ticket, SegmentDescriptor from, int replica, long fromOffset, long endOffset) {
        Optional<BookieAddress> address =
                context.addressOf(from.replicas().get(replica).bookie());
        if (address.isEmpty()) {
            loop.execute(() -> log.leader().onCarryFailed(ticket, replica));
            return;
        }
        loop.on(
                loop.recoveryReads()
                        .call(
                                loop,
                                () -> context.bookies()
                                        .read(
                                                address.get(),
                                                from.id(),
                                                fromOffset,
                                                CARRY_CHUNK_BYTES,
                                                ReadPriority.RECOVERY,
                                                context.options().callTimeoutMs())),
                (reply, failure) -> onCarryReply(ticket, from, replica, fromOffset, endOffset, reply));
    }

    private void onCarryReply(
            int ticket, SegmentDescriptor from, int replica, long fromOffset, long endOffset, ReadReply reply) {
        long next = fromOffset;
        try {
            EntryCursor cursor = new EntryCursor(reply.entries());
            while (reply.status() == BookieStatus.OK && next < endOffset && cursor.next()) {
                if (cursor.firstOffset() != next || cursor.lastOffset() >= endOffset) {
                    break;
                }
                ByteBuf payload = cursor.payload();
                long maxTimestampMs = RecordBatchHeader.maxTimestampMs(payload.nioBuffer(), 0);
                if (!log.leader().isCarrying(ticket)) {
                    return;
                }
                log.onCarried(cursor.firstOffset(), cursor.lastOffset(), payload, cursor.sizeBytes());
                next = cursor.lastOffset() + 1;
                log.leader()
                        .onCarried(
                                ticket,
                                cursor.firstOffset(),
                                cursor.lastOffset(),
                                cursor.crc(),
                                cursor.sizeBytes(),
                                maxTimestampMs,
                                payload.retain());
            }
        } finally {
            reply.entries().release();
        }
        if (next == fromOffset) {
            log.leader().onCarryFailed(ticket, replica);
        } else if (next < endOffset) {
            readCarry(ticket, from, replica, next, endOffset);
        }
    }

    @Override
    public void allocate(int ticket, long startOffset, SortedSet<BookieId> avoid) {
        loop.on(
                context.metadata().allocateSegment(log.id(), log.epoch(), startOffset, Set.copyOf(avoid)),
                (segment, failure) -> {
                    if (failure == null) {
                        log.leader().onAllocated(ticket, segment);
                    } else {
                        LOG.warn(
                                "event=allocation_failed partition={} epoch={} reason=\"{}\"",
                                log.id(),
                                log.epoch(),
                                failure.getMessage());
                        log.leader().onAllocateFailed(ticket, MetadataOutcome.ofAllocation(failure));
                    }
                });
    }

    @Override
    public void openStreams(SegmentWriter writer) {
        checkpointOffset = -1;
        earlierCheckpointOffset = -1;
        streams.open(writer);
    }

    @Override
    public void send(
            int writer, int replica, long firstOffset, long lastOffset, int crc, ByteBuf payload, long highWatermark) {
        streams.send(writer, replica, firstOffset, lastOffset, crc, payload, highWatermark);
    }

    @Override
    public int checkpoint(SegmentWriter writer, long offset) {
        if (!log.leader().isServing()) {
            log.state().onEpoch(log.epoch());
        }
        ByteBuffer state = log.state().encode();
        streams.checkpoint(writer, offset, state);
        earlierCheckpointOffset = checkpointOffset;
        checkpointOffset = offset;
        return state.remaining();
    }

    @Override
    public void onRolling(long startOffset) {
        // A checkpoint is durable for sure where an entry after it is.
        long durable = checkpointOffset < startOffset ? checkpointOffset : earlierCheckpointOffset;
        boolean known = durable >= 0 && durable < startOffset;
        log.state().onSegment(startOffset, known ? durable : LogState.KEEP_ABORTED);
    }

    @Override
    public void recount(long firstOffset, int sizeBytes, long maxTimestampMs) {
        log.state().count(firstOffset, sizeBytes, maxTimestampMs);
    }

    @Override
    public void closeStream(int writer, int replica, long sealOffset) {
        streams.close(writer, replica, sealOffset);
    }

    @Override
    public long pendingBytes(int writer, int replica) {
        return streams.pendingBytes(writer, replica);
    }

    @Override
    public void roll(int ticket, SealFacts sealed, SegmentId opened) {
        Roll roll = new Roll(log.id(), log.epoch(), Optional.ofNullable(sealed).map(TenureEffects::sealOf), opened);
        loop.on(context.metadata().roll(roll), (state, failure) -> {
            note("roll", failure);
            if (!log.leader().isDeposed()) {
                log.onMetadata();
            }
            log.leader().onRolled(ticket, MetadataOutcome.of(failure));
        });
    }

    @Override
    public void release(int ticket, SealFacts sealed) {
        loop.on(
                context.metadata().release(log.id(), log.epoch(), Optional.of(sealOf(sealed)), log.successor()),
                (state, failure) -> {
                    note("release", failure);
                    log.leader().onReleased(ticket, MetadataOutcome.of(failure));
                });
    }

    private static Seal sealOf(SealFacts facts) {
        return new Seal(facts.segment(), facts.endOffset(), facts.bytes(), facts.maxTimestampMs(), facts.holders());
    }

    private void note(String what, Throwable failure) {
        if (failure != null) {
            LOG.warn(
                    "event={}_failed partition={} epoch={} reason=\"{}\"",
                    what,
                    log.id(),
                    log.epoch(),
                    failure.getMessage());
        }
    }

    @Override
    public void readChain(int ticket) {
        loop.on(context.metadata().linearizable(), (view, failure) -> {
            if (failure != null) {
                log.leader().onChainUnread(ticket);
                return;
            }
            Optional<PartitionState> state = view.partition(log.id());
            if (state.isEmpty()) {
                log.leader().depose(Deposition.STOPPED);
            } else {
                if (!log.leader().isDeposed()) {
                    log.onMetadata();
                }
                log.leader().onChain(ticket, state.get(), context.isOwned(view, log.id(), log.epoch()));
            }
        });
    }

    @Override
    public void confirmReplica(SegmentId segment, BookieId bookie) {
        // The bookie does the same when it learns of the seal; if neither gets through, the replica is repaired in
        // time.
        context.metadata().confirmReplica(segment, bookie).whenComplete((done, failure) -> note("confirm", failure));
    }

    @Override
    public void onServing(long highWatermark) {
        log.onServing(highWatermark);
    }

    @Override
    public void onHighWatermark(long highWatermark) {
        log.onHighWatermark(highWatermark);
    }

    @Override
    public void releasePayload(ByteBuf payload) {
        payload.release();
    }

    @Override
    public void onDeposed(Deposition why) {
        log.onDeposed(why);
    }
}
