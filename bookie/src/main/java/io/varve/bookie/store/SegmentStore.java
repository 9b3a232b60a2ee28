package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The replicas that one bookie holds, on one or several data directories.
 *
 * <p>Safe for any thread. Nothing here waits for a disk except {@link #openSealed} and {@link #close}. What one thread asks for one segment is
 * carried out in the order in which it asked. Trouble is an answer, never an exception; a broken invariant goes to the fault handler.
 * Callbacks and futures complete on threads of the store and must neither block nor throw.
 *
 * <p>An answer {@link BookieStatus#OK} to anything that changes state means that it is durable.
 */
public interface SegmentStore extends AutoCloseable {

    /**
     * Makes a replica, or finds the one there is. Appends may be handed in at once, without waiting for the answer; they stay behind it.
     *
     * <p>Answers: OK with the replica's end and the incarnation of its directory; FENCED if the partition's fence is above {@code epoch}, or
     * if the replica there was made under another epoch; SEALED; UNKNOWN if {@code incarnation} is not, or no longer, one of this bookie, or
     * its replica is damaged; READ_ONLY if no directory takes new segments; INVALID if the segment is known with other facts.
     *
     * @param startOffset the first offset that the segment may hold
     * @param incarnation of the directory to put it in; 0 lets the store choose
     */
    void createSegment(
            PartitionId partition,
            SegmentId segment,
            int epoch,
            long startOffset,
            long incarnation,
            CreateCallback callback);

    /**
     * Appends an entry to a replica.
     *
     * <p>Answers: OK when durable, also to a repeat of what the replica holds already; GAP if {@code firstOffset} is above the replica's end
     * (I-3); FENCED if the partition's fence is above {@code epoch} (I-4) or the segment was made under another epoch; NO_SUCH_SEGMENT;
     * SEALED; TOO_LARGE; BAD_CHECKSUM; INVALID for offsets that can't be; READ_ONLY if the directory is full, for all or all but {@link StoreListener#isEssential essential} partitions; OVERLOADED if too much is
     * waiting (see {@link #isCongested}); UNKNOWN if the replica is damaged or its directory went out of service, in which case
     * the entry may or may not be kept.
     *
     * @param epoch the owner's
     * @param lastOffset inclusive
     * @param crc by {@link io.varve.protocol.storage.EntryFormat#checksum}; verified here
     * @param payload one reference is taken over, and released as soon as the bytes were copied into the journal's buffer or refused; its
     *     indices must not be changed by anybody meanwhile
     * @param highWatermark the owner's, remembered with the entry
     * @param callback gets the answer. Answers to the appends of one segment come in order. Those of one group that were given the
     *     <em>same</em> callback object and are OK are answered by one call with the highest end
     */
    void append(
            SegmentId segment,
            int epoch,
            long firstOffset,
            long lastOffset,
            int crc,
            ByteBuf payload,
            long highWatermark,
            AppendCallback callback);

    /**
     * Keeps a checkpoint of the owner's state with the replica, in order with its appends: durable with or after those handed in before.
     * The newest two of a segment are kept. Not answered; silently dropped where an append would be refused.
     *
     * @param offset the state's offset
     * @param state opaque; ownership as for {@link #append}
     */
    void checkpoint(SegmentId segment, int epoch, long offset, ByteBuf state);

    /**
     * Raises fences, on all directories of this bookie, and says what it holds of the segments. Completes once the fences and every append
     * handed in before are durable. The answers are in the order of the requests.
     *
     * <p>Per request: OK, with the replica's durable end; NO_SUCH_SEGMENT: fenced, and this bookie vouches that it holds and has lost nothing of it; UNKNOWN:
     * fenced as far as possible, but it can't vouch (I-5); FENCED: a higher fence stood already, nothing changed. A repeat of the same epoch is OK.
     */
    CompletableFuture<List<FenceReply>> fence(List<FenceRequest> requests);

    /**
     * Notes that the segment ends: no appends any more. A hint of its owner, or the metadata's word. What lies at or above the end stays
     * readable, because the roll may not have committed.
     *
     * <p>Answers: OK; FENCED if the partition's fence is above {@code epoch}; NO_SUCH_SEGMENT; UNKNOWN.
     *
     * @param epoch the owner's; {@link Integer#MAX_VALUE} for the metadata's word
     * @param endOffset exclusive
     */
    CompletableFuture<BookieStatus> seal(SegmentId segment, int epoch, long endOffset);

    /**
     * Forgets a replica for good, and frees its space in time. Only on the metadata service's positive instruction (I-9). The partition's fence stays.
     *
     * <p>Answers: OK, also if there is nothing to delete; UNKNOWN if its directory is out of service.
     *
     * @param incarnation of the directory to delete it from; 0 for whichever holds it
     */
    CompletableFuture<BookieStatus> delete(SegmentId segment, long incarnation);

    /**
     * Reads whole entries in order, from the one that holds {@code fromOffset}, out of memory, journal or settled file.
     *
     * <p>Answers: OK with at least one entry; BEYOND_END with the durable end; NO_SUCH_SEGMENT; UNKNOWN; CORRUPT; IO_ERROR; OVERLOADED if the
     * budget of this priority is spent and its queue is full. Every entry's checksum was verified.
     *
     * @param maxBytes entries are added while they fit; the first one always comes
     * @param priority whose budget it draws from
     */
    CompletableFuture<ReadReply> read(SegmentId segment, long fromOffset, int maxBytes, ReadPriority priority);

    /** The newest checkpoint of a segment whose offset is not above {@code atMostOffset}; BEYOND_END if there is none. */
    CompletableFuture<CheckpointReply> readCheckpoint(SegmentId segment, long atMostOffset);

    /** What the replica holds durably at this moment, answered as by {@link #fence} but without fencing. */
    FenceReply describe(SegmentId segment, long incarnation);

    /**
     * Opens a sealed segment for reading from start to end.
     *
     * @param segment as the metadata describes it: read up to its end, however much more the replica holds
     * @throws IOException if the replica is not here whole, or damaged
     */
    SealedSegmentSource openSealed(SegmentDescriptor segment) throws IOException;

    /**
     * Begins, or goes on with, copying a sealed segment onto this bookie. Nobody can see the replica before {@link SegmentImport#complete}. A replica
     * that is here already but holds less than the segment, or is damaged, stays what it is until then and is replaced.
     *
     * @param segment as the metadata describes it
     * @param incarnation of the directory to put it in; 0 lets the store choose
     * @throws IOException if that directory, or none, can take it, or an intact replica here holds the whole segment already
     */
    SegmentImport importSegment(SegmentDescriptor segment, long incarnation) throws IOException;

    /** All replicas, damaged ones included, in order of id: a snapshot. */
    List<ReplicaInfo> inventory();

    /** All configured directories in the configuration's order. */
    List<DirectoryInfo> directories();

    /** Whether no directory takes new segments. */
    boolean isReadOnly();

    /** Whether so much waits to become durable that callers should stop taking more in until {@link #whenRelieved}. */
    boolean isCongested();

    /** Runs {@code action} once, on any thread, as soon as the store is not congested; at once if it isn't now. */
    void whenRelieved(Runnable action);

    /** Makes durable what was handed in, marks the journals as cleanly closed, and releases the directories. Waits for the disks. */
    @Override
    void close();

    /** Answers {@link #createSegment}. */
    @FunctionalInterface
    interface CreateCallback {
        /**
         * @param end the replica's end, or -1
         * @param incarnation of the directory that holds it, or 0
         */
        void onCreated(BookieStatus status, long end, long incarnation);
    }

    /** Answers {@link #append}. */
    @FunctionalInterface
    interface AppendCallback {
        /** @param end the replica's end: the durable one if OK, the one that the next append must start at if GAP; -1 if there is none */
        void onAppended(BookieStatus status, long end);
    }
}
