package io.varve.serving.log;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * One partition's log, served by this broker under one epoch. Safe for any thread: calls hop onto the event loop that owns the partition.
 * Futures complete on that loop: don't block it. They never fail: trouble is a {@link LogError}.
 *
 * <p>After the epoch is lost every call answers {@link LogError#NOT_OWNER}.
 */
public interface PartitionLog {

    /** Which partition. */
    PartitionId id();

    /** The owner's epoch: Kafka's leader epoch. */
    int epoch();

    /** Where the log stands now. A consistent snapshot. */
    Offsets offsets();

    /**
     * Appends record batches, in the order in which calls were made, and answers when they are acknowledged by A bookies (or found to be a
     * producer's repeat, with the offsets they had the first time).
     *
     * @param batches validated and well-formed v2 batches with relative offsets; the log assigns offsets and epoch in place. The log takes
     *     over one reference to each payload, in every case
     */
    CompletableFuture<AppendResult> append(List<Batch> batches, AppendOptions options);

    /**
     * As {@link #append}, but in two answers, for coordinators: their state runs ahead of the quorum and needs the offsets at once. Calls
     * of one thread get their offsets in the order in which they were made.
     */
    Started start(List<Batch> batches, AppendOptions options);

    /**
     * Whether this producer's transaction is known here to be open, so that another write of it needs no word from its coordinator. May be
     * out of date by the time of the append, which looks again.
     */
    boolean isInTransaction(long producerId, short producerEpoch);

    /** As {@link #appendMarker}, in two answers. */
    Started startMarker(Marker marker);

    /**
     * Reads whole batches from the one that holds {@code fromOffset} on, from wherever they are.
     *
     * @param maxBytes batches are added while they fit; with {@code atLeastOne} the first one comes in any case
     * @param isolation what the reader may see
     */
    CompletableFuture<ReadResult> read(long fromOffset, int maxBytes, boolean atLeastOne, Isolation isolation);

    /**
     * Calls back once, when there is something to read at {@code offset} for that isolation, or when the log is lost. At once, on the
     * caller's thread, if that is so already.
     *
     * @return cancels the wait; harmless after the call back
     */
    Runnable whenReadable(long offset, Isolation isolation, Runnable callback);

    /** The first record at or after that time, by Kafka's rules, in whatever tier; empty if there is none below the bound. */
    CompletableFuture<TimestampResult> offsetForTimestamp(long timestampMs, Isolation isolation);

    /** The record with the largest time. */
    CompletableFuture<TimestampResult> maxTimestamp();

    /** The end of an epoch, by Kafka's OffsetsForLeaderEpoch table: {@code (epoch, end)}, or {@code (-1, -1)}. */
    CompletableFuture<EpochEnd> endOffsetForEpoch(int epoch);

    /** Moves the log's start to {@code offset} (-1: the high watermark) for good and answers the new start. */
    CompletableFuture<DeleteRecordsResult> deleteRecords(long offset);

    /** Writes a transaction's end marker: commit or abort. Answers when acknowledged. */
    CompletableFuture<AppendResult> appendMarker(Marker marker);

    /** The state of the producers that wrote lately. */
    CompletableFuture<List<ProducerInfo>> producers();

    /** Tells {@code listener} whenever the high watermark or the last stable offset rose. On the owner's loop; must not block. */
    void addProgressListener(ProgressListener listener);

    /** Ends that. */
    void removeProgressListener(ProgressListener listener);

    /** Told of progress. */
    @FunctionalInterface
    interface ProgressListener {
        /** Both only rise. */
        void onProgress(long highWatermark, long lastStableOffset);
    }

    /** What a reader may see. */
    enum Isolation {
        /** Below the high watermark. */
        READ_UNCOMMITTED,
        /** Below the last stable offset, with the list of aborted transactions. */
        READ_COMMITTED,
        /** The owner's own coordinators: up to the end, acknowledged or not. */
        LOG_END
    }

    /**
     * @param logStart the first offset readers may ask for
     * @param localStart the first offset that is still on bookies
     * @param lastStable below it no transaction is open; at most the high watermark
     * @param highWatermark the first offset that is not yet acknowledged
     * @param end the first offset that is not yet assigned
     */
    record Offsets(long logStart, long localStart, long lastStable, long highWatermark, long end) {}

    /**
     * One record batch in Kafka's format v2 and what the log needs to know of it, as its header says.
     *
     * @param payload the whole batch, writable in place
     * @param records how many offsets it takes
     * @param maxTimestampMs largest record time
     * @param producerId -1 if not idempotent
     * @param baseSequence -1 if not idempotent
     */
    record Batch(
            ByteBuf payload,
            int records,
            long maxTimestampMs,
            long producerId,
            short producerEpoch,
            int baseSequence,
            boolean transactional) {}

    /**
     * @param origin who writes
     * @param verifiedAtOffset for a transactional write: where the log ended when its coordinator was asked, which has said since that the
     *     transaction is open with this partition in it; -1 if it wasn't asked. If the transaction's end was written from there on, the answer
     *     is out of date
     */
    record AppendOptions(Origin origin, long verifiedAtOffset) {
        /** A client's. */
        public static final AppendOptions CLIENT = new AppendOptions(Origin.CLIENT, -1);
        /** A coordinator's own records. */
        public static final AppendOptions COORDINATOR = new AppendOptions(Origin.COORDINATOR, Long.MAX_VALUE);

        /** A client's, of a transaction that its coordinator was asked about when the log ended there. */
        public static AppendOptions verifiedAt(long endOffset) {
            return new AppendOptions(Origin.CLIENT, endOffset);
        }

        /** Whether the coordinator was asked, and said that the transaction is open. */
        public boolean verified() {
            return verifiedAtOffset >= 0;
        }

        /** Who writes. */
        public enum Origin {
            /** A client: sequences and epochs are checked. */
            CLIENT,
            /** A coordinator on this broker. */
            COORDINATOR
        }
    }

    /**
     * @param error NONE when acknowledged
     * @param baseOffset of the first batch, -1 on error
     * @param lastOffset of the last batch
     * @param repeatedTimestampMs of a repeat, the largest time of what was appended the first time; else -1
     * @param logStart the log's start
     * @param message for the client, or null
     */
    record AppendResult(
            LogError error,
            long baseOffset,
            long lastOffset,
            long repeatedTimestampMs,
            long logStart,
            String message) {}

    /**
     * An append under way.
     *
     * @param assigned completes as soon as the batches have offsets and are on their way to the bookies, never waiting for these; with an
     *     error nothing was or will be written, and {@code acknowledged} has the same error
     * @param acknowledged as the future of {@link #append}
     */
    record Started(CompletableFuture<Assigned> assigned, CompletableFuture<AppendResult> acknowledged) {}

    /**
     * Offsets given to an append that is not yet acknowledged.
     *
     * @param baseOffset of the first batch, -1 on error
     * @param endOffset the offset after the last record, -1 on error
     */
    record Assigned(LogError error, long baseOffset, long endOffset) {}

    /**
     * @param error NONE also when there is nothing to read yet
     * @param batches whole batches in order; each holds a reference that the receiver releases by {@link #release()}
     * @param aborted with READ_COMMITTED: what the reader must skip
     * @param offsets where the log stood
     */
    record ReadResult(LogError error, List<ByteBuf> batches, List<AbortedTxn> aborted, Offsets offsets) {
        /** Gives all batches back. Once. */
        public void release() {
            batches.forEach(ByteBuf::release);
        }

        /** Bytes in all batches. */
        public int bytes() {
            int sum = 0;
            for (ByteBuf batch : batches) {
                sum += batch.readableBytes();
            }
            return sum;
        }
    }

    /** A transaction that was aborted: its records from {@code firstOffset} on are to be skipped up to its marker. */
    record AbortedTxn(long producerId, long firstOffset) {}

    /** What was found for a time. */
    record TimestampResult(LogError error, Optional<Found> found) {
        /** The record. */
        public record Found(long offset, long timestampMs, int epoch) {}
    }

    /** An epoch's end. */
    record EpochEnd(LogError error, int epoch, long endOffset) {}

    /** What {@link #deleteRecords} did. */
    record DeleteRecordsResult(LogError error, long logStart) {}

    /**
     * @param commit or abort
     * @param transactionVersion the protocol version of the transaction, 1 or 2
     */
    record Marker(
            long producerId, short producerEpoch, int coordinatorEpoch, boolean commit, short transactionVersion) {}

    /** One producer's state. */
    record ProducerInfo(
            long producerId,
            short producerEpoch,
            int lastSequence,
            long lastTimestampMs,
            int coordinatorEpoch,
            long currentTxnStartOffset) {}
}
