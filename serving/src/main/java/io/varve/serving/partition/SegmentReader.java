package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.CheckpointFormatException;
import io.varve.serving.core.partition.LogState;
import io.varve.tiering.api.RemoteSegments.Following;
import io.varve.tiering.api.RemoteSegments.RemoteEntries;
import io.varve.tiering.api.SealedSegmentSource.Checkpoint;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reads of segments, from whichever replica can answer truthfully (I-7), or from object storage. Safe for any thread; buffers that come out
 * hold a reference for the receiver.
 */
final class SegmentReader {

    private final PartitionContext context;

    SegmentReader(PartitionContext context) {
        this.context = context;
    }

    /**
     * @param status OK with entries, or the last refusal
     * @param entries whole entries; empty unless OK
     */
    record Entries(BookieStatus status, ByteBuf entries) {
        static Entries none(BookieStatus status) {
            return new Entries(status, Unpooled.EMPTY_BUFFER);
        }
    }

    /**
     * Reads entries from the replicas in turn, from the first that has them.
     *
     * @param rotation which replica is asked first, so that readers spread
     */
    CompletableFuture<Entries> read(
            SegmentDescriptor segment, long fromOffset, int maxBytes, ReadPriority priority, int rotation) {
        return readFrom(
                segment.id(),
                rotated(segment.replicas(), rotation),
                0,
                fromOffset,
                maxBytes,
                priority,
                BookieStatus.NO_ANSWER);
    }

    private CompletableFuture<Entries> readFrom(
            SegmentId segment,
            List<Replica> replicas,
            int index,
            long fromOffset,
            int maxBytes,
            ReadPriority priority,
            BookieStatus last) {
        if (index == replicas.size()) {
            return CompletableFuture.completedFuture(Entries.none(last));
        }
        Optional<BookieAddress> address = context.addressOf(replicas.get(index).bookie());
        if (address.isEmpty()) {
            return readFrom(segment, replicas, index + 1, fromOffset, maxBytes, priority, last);
        }
        return context.bookies()
                .read(
                        address.get(),
                        segment,
                        fromOffset,
                        maxBytes,
                        priority,
                        context.options().callTimeoutMs())
                .thenCompose(reply -> {
                    if (reply.status() == BookieStatus.OK && reply.entries().isReadable()) {
                        return CompletableFuture.completedFuture(new Entries(BookieStatus.OK, reply.entries()));
                    }
                    reply.entries().release();
                    return readFrom(segment, replicas, index + 1, fromOffset, maxBytes, priority, reply.status());
                });
    }

    /**
     * The newest checkpoint of a segment at or below an offset, from the replicas or from the object. An object may be of several segments, and what it says of those before this one is what they were: compaction
     * may have replaced them since by a segment whose entries begin elsewhere. A checkpoint above the segment's end isn't believed: what its owner wrote there may have been lost, and another's may stand there.
     *
     * @return {@link Found#state} empty if truthfully there is none; {@link Found#answered} false if nobody could say
     */
    CompletableFuture<Found> checkpoint(SegmentDescriptor segment, long atMostOffset) {
        long within = segment.state() == SegmentDescriptor.State.SEALED
                ? Math.min(atMostOffset, segment.endOffset())
                : atMostOffset;
        return checkpointFrom(segment, 0, within).thenCompose(found -> {
            if (found.state().isPresent() || segment.object().isEmpty()) {
                return CompletableFuture.completedFuture(found);
            }
            return context.remote()
                    .checkpoint(segment.object().get(), segment.partition(), within)
                    .handle((checkpoint, failure) -> failure == null ? ofObject(segment, checkpoint) : found);
        });
    }

    /** @param answered whether some holder could say */
    record Found(boolean answered, Optional<LogState> state) {}

    private CompletableFuture<Found> checkpointFrom(SegmentDescriptor segment, int index, long atMostOffset) {
        if (index == segment.replicas().size()) {
            return CompletableFuture.completedFuture(new Found(false, Optional.empty()));
        }
        Optional<BookieAddress> address =
                context.addressOf(segment.replicas().get(index).bookie());
        if (address.isEmpty()) {
            return checkpointFrom(segment, index + 1, atMostOffset);
        }
        return context.bookies()
                .readCheckpoint(
                        address.get(),
                        segment.id(),
                        atMostOffset,
                        context.options().callTimeoutMs())
                .thenCompose(reply -> {
                    Optional<LogState> state = stateOf(reply);
                    if (state.isPresent()) {
                        return CompletableFuture.completedFuture(new Found(true, state));
                    }
                    boolean none = reply.status() == BookieStatus.BEYOND_END
                            || reply.status() == BookieStatus.NO_SUCH_SEGMENT && mayNeverHaveHadIt(segment);
                    return checkpointFrom(segment, index + 1, atMostOffset)
                            .thenApply(rest ->
                                    rest.state().isPresent() ? rest : new Found(none || rest.answered(), rest.state()));
                });
    }

    /**
     * Whether a replica that says that it has nothing of a segment speaks of all of it. Not if it held a sealed one to its end, as it must have: then it was told to delete its copy (I-9), of whose
     * checkpoints it knows nothing any more.
     */
    private static boolean mayNeverHaveHadIt(SegmentDescriptor segment) {
        return segment.state() != SegmentDescriptor.State.SEALED || segment.isEmpty();
    }

    private static Optional<LogState> stateOf(CheckpointReply reply) {
        try {
            return reply.status() == BookieStatus.OK
                    ? Optional.of(LogState.decode(reply.state().nioBuffer()))
                    : Optional.empty();
        } catch (CheckpointFormatException unreadable) {
            return Optional.empty();
        } finally {
            reply.state().release();
        }
    }

    /** One that can't be read, such as a later version's, isn't none. */
    private static Found ofObject(SegmentDescriptor segment, Optional<Checkpoint> checkpoint) {
        try {
            return new Found(
                    true,
                    checkpoint
                            .filter(found -> found.offset() >= segment.startOffset())
                            .map(found -> LogState.decode(found.state())));
        } catch (CheckpointFormatException unreadable) {
            return new Found(false, Optional.empty());
        }
    }

    /** Entries from object storage, in the form that bookies answer in. */
    CompletableFuture<ByteBuf> readRemote(
            SegmentDescriptor segment, long fromOffset, int maxBytes, Following following) {
        return context.remote()
                .read(segment.object().orElseThrow(), segment.partition(), fromOffset, maxBytes, following)
                .thenApply(RemoteEntries::entries);
    }

    private static List<Replica> rotated(List<Replica> replicas, int rotation) {
        if (replicas.size() < 2) {
            return replicas;
        }
        List<Replica> order = new ArrayList<>(replicas.size());
        int first = Math.floorMod(rotation, replicas.size());
        order.addAll(replicas.subList(first, replicas.size()));
        order.addAll(replicas.subList(0, first));
        return order;
    }
}
