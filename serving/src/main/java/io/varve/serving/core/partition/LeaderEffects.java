package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.SortedSet;

/**
 * What a {@link PartitionLeader} wants done. Calls never re-enter the leader: answers come later, as inputs. A {@code ticket} comes back
 * with the answer; the leader ignores answers to tickets that it has given up.
 *
 * @param <P> the payload of entries, opaque to the leader
 */
public interface LeaderEffects<P> {

    /** Fence one replica of the segment with the leader's epoch: answer with {@code onFenced} or {@code onFenceFailed}. */
    void fence(int ticket, SegmentDescriptor open, int replica);

    /**
     * Load the owner's state as of {@code atOffset}: the newest checkpoint not above it and what follows. Answer with {@code onStateLoaded}
     * or {@code onStateFailed}.
     *
     * @param holders which replicas of the chain's open segment hold how much: the end of each, -1 if it isn't known
     */
    void loadState(int ticket, long atOffset, long[] holders);

    /**
     * Read the entries in the range from a replica of the fenced segment: answer with {@code onCarried} for each in order, or with
     * {@code onCarryFailed}.
     */
    void readCarry(int ticket, SegmentDescriptor from, int replica, long fromOffset, long endOffset);

    /** Allocate a segment: answer with {@code onAllocated} or {@code onAllocateFailed}. */
    void allocate(int ticket, long startOffset, SortedSet<BookieId> avoid);

    /** Open a stream to each replica of the writer's segment. They answer with {@code onDurable} and {@code onStreamFailed}. */
    void openStreams(SegmentWriter writer);

    /** Send an entry on one stream. The payload stays the leader's; the stream takes a reference of its own. */
    void send(int writer, int replica, long firstOffset, long lastOffset, int crc, P payload, long highWatermark);

    /**
     * Send a checkpoint of the owner's state on all streams of the writer. The state is that of the log's end, {@code offset}.
     *
     * @return its size in bytes, by which the leader spaces checkpoints
     */
    int checkpoint(SegmentWriter writer, long offset);

    /** A live roll has begun: what follows from {@code startOffset} on belongs to the next segment; {@link #recount} tells what is there already. */
    void onRolling(long startOffset);

    /** An entry that was counted into the segment before belongs to the next one. */
    void recount(long firstOffset, int sizeBytes, long maxTimestampMs);

    /** End one stream; with {@code sealOffset >= 0} tell the replica first that its segment ends there. */
    void closeStream(int writer, int replica, long sealOffset);

    /** Bytes handed to a stream and not known to be durable. */
    long pendingBytes(int writer, int replica);

    /** The roll: answer with {@code onRolled}. {@code sealed} is null for a chain that has no open segment. */
    void roll(int ticket, SealFacts sealed, SegmentId opened);

    /** Give the partition back: answer with {@code onReleased}. */
    void release(int ticket, SealFacts sealed);

    /** Read the partition linearizably (I-17): answer with {@code onChain} or {@code onChainUnread}. */
    void readChain(int ticket);

    /** A sealed segment's replica that was behind has caught up. */
    void confirmReplica(SegmentId segment, BookieId bookie);

    /** The takeover is complete: everything acknowledged before is below the high watermark. Called once. */
    void onServing(long highWatermark);

    /** The high watermark rose. Everything below it is acknowledged. */
    void onHighWatermark(long highWatermark);

    /** The leader needs a payload no more. */
    void releasePayload(P payload);

    /** The leader has stopped for good and wants nothing more done. Called once; the streams are to be closed. */
    void onDeposed(Deposition why);

    /**
     * How a segment ends.
     *
     * @param segment which
     * @param endOffset exclusive
     * @param bytes payload bytes below it, -1 if unknown
     * @param maxTimestampMs largest record time below it, -1 if unknown
     * @param holders who has all of it
     */
    record SealFacts(SegmentId segment, long endOffset, long bytes, long maxTimestampMs, SortedSet<BookieId> holders) {}

    /** Why a leader stopped. */
    enum Deposition {
        /** A higher epoch owns the partition. */
        SUPERSEDED,
        /** It was given back on purpose. */
        RELEASED,
        /** The shell stopped it: the broker closes, or the topic is gone. */
        STOPPED
    }
}
