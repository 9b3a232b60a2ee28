package io.varve.bookie.client;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * Speaks to bookies. Safe for any thread. Connections are made when needed, shared, and come back by themselves with jittered backoff; every
 * call has a deadline. Futures never fail: trouble is a {@link BookieStatus}. They complete on a connection's event loop.
 */
public interface BookieClient extends AutoCloseable {

    /**
     * Begins appending to a replica.
     *
     * @param startOffset the segment's first offset
     * @param incarnation the replica's, if known; 0 lets the bookie choose a directory
     */
    AppendStream openAppend(
            BookieAddress bookie,
            PartitionId partition,
            SegmentId segment,
            int epoch,
            long startOffset,
            long incarnation,
            AppendListener listener);

    /**
     * Raises fences, many at a time, with one fsync. The answers come in the order of the requests, after the fences and all appends before
     * them are durable.
     */
    CompletableFuture<List<FenceReply>> fence(BookieAddress bookie, List<FenceRequest> requests, long timeoutMs);

    /**
     * Reads whole entries in order, from the one that holds {@code fromOffset}.
     *
     * @param maxBytes entries are added while they fit; the first one always comes
     * @param priority which budget it draws from
     */
    CompletableFuture<ReadReply> read(
            BookieAddress bookie,
            SegmentId segment,
            long fromOffset,
            int maxBytes,
            ReadPriority priority,
            long timeoutMs);

    /** The newest checkpoint of a segment whose offset is not above {@code atMostOffset}. */
    CompletableFuture<CheckpointReply> readCheckpoint(
            BookieAddress bookie, SegmentId segment, long atMostOffset, long timeoutMs);

    /** What the replica holds. */
    CompletableFuture<FenceReply> describe(BookieAddress bookie, SegmentId segment, long timeoutMs);

    /** Breaks all connections; streams fail with NO_ANSWER, and so do calls under way. */
    @Override
    void close();

    /** Whose budget a read draws from. */
    enum ReadPriority {
        /** A takeover: first, and small. */
        RECOVERY,
        /** Near the tail. */
        TAIL,
        /** Everything else: must not disturb appends. */
        CATCH_UP
    }

    /**
     * @param partition whose fence is raised
     * @param epoch nothing below it is accepted for the partition any more, ever (I-4)
     * @param segment the segment whose end is wanted
     * @param incarnation of the directory that the metadata says holds the replica; 0 if it isn't known. A bookie that no longer has this
     *     directory can't vouch for what was in it, and answers UNKNOWN (I-5)
     */
    record FenceRequest(PartitionId partition, int epoch, SegmentId segment, long incarnation) {}

    /**
     * @param status OK with the numbers below; NO_SUCH_SEGMENT: fenced, and truthfully never had it (end = the segment's start, whatever
     *     that is); UNKNOWN: fenced, but can't vouch (I-5); FENCED: a higher fence stands already
     * @param end the replica's durable end
     * @param highWatermark the highest an owner told it, or -1
     * @param incarnation of the directory that holds the replica, or 0
     * @param sealed whether it was told that the segment is sealed
     * @param fenceEpoch the fence that stands now
     */
    record FenceReply(
            BookieStatus status, long end, long highWatermark, long incarnation, boolean sealed, int fenceEpoch) {}

    /**
     * @param status OK with at least one entry, or why not
     * @param entries whole entries as {@link io.varve.protocol.storage.EntryFormat} lays them out, checked against their checksums by the
     *     client; empty unless OK. The receiver releases it
     * @param end the replica's end
     * @param highWatermark the highest an owner told it, or -1
     */
    record ReadReply(BookieStatus status, ByteBuf entries, long end, long highWatermark) {}

    /**
     * @param status OK; BEYOND_END if there is no such checkpoint
     * @param offset the state's offset
     * @param state opaque; empty unless OK. The receiver releases it
     */
    record CheckpointReply(BookieStatus status, long offset, ByteBuf state) {}
}
