package io.varve.serving.core.txn;

import java.util.Collection;
import java.util.Collections;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * The state of one transactional id.
 *
 * @param id the transactional id
 * @param producerId of its producer
 * @param previousProducerId the one before {@code producerId}, or the same; {@link #NONE} at first
 * @param nextProducerId the one that follows when the epochs of {@code producerId} ran out in this very transaction, else {@link #NONE}
 * @param epoch of its producer
 * @param lastEpoch the epoch that the producer had before its last bump, by which a repeated request is known; {@link #NO_EPOCH} if no
 *     repeat can be legitimate, because somebody else initialised
 * @param timeoutMs after which an open transaction is aborted
 * @param status how far it has come
 * @param partitions that have, or may have, records of it
 * @param startMs wall time of the first partition added; {@link #NONE} before
 * @param updateMs wall time of the last change
 * @param version the protocol version in which the transaction is or was written: 2 bumps the epoch with each transaction (KIP-890)
 */
public record Txn(
        String id,
        long producerId,
        long previousProducerId,
        long nextProducerId,
        short epoch,
        short lastEpoch,
        int timeoutMs,
        TxnStatus status,
        SortedSet<TxnPartition> partitions,
        long startMs,
        long updateMs,
        short version) {

    /** No producer id, or no time. */
    public static final long NONE = -1;

    /** No epoch. */
    public static final short NO_EPOCH = -1;

    /** From this version on each transaction has an epoch of its own. */
    public static final short EPOCH_PER_TRANSACTION = 2;

    /** The highest epoch that a producer is given. One above remains, so that it can always be fenced. */
    public static final short EPOCH_MAX = Short.MAX_VALUE - 1;

    private static final SortedSet<TxnPartition> NOWHERE = Collections.unmodifiableSortedSet(new TreeSet<>());

    public Txn {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(status, "status");
        partitions = Collections.unmodifiableSortedSet(new TreeSet<>(partitions));
    }

    /** Whether no further epoch can be given out for the producer id. */
    public boolean epochsExhausted() {
        return epoch >= EPOCH_MAX;
    }

    boolean hasEpochPerTransaction() {
        return version >= EPOCH_PER_TRANSACTION;
    }

    /** A producer that has just been initialised. */
    static Txn initialised(
            String id,
            long producerId,
            long previousProducerId,
            short epoch,
            short lastEpoch,
            int timeoutMs,
            long nowMs,
            short version) {
        return new Txn(
                id,
                producerId,
                previousProducerId,
                NONE,
                epoch,
                lastEpoch,
                timeoutMs,
                TxnStatus.EMPTY,
                NOWHERE,
                NONE,
                nowMs,
                version);
    }

    /** With these partitions too; opens a transaction if none is open. */
    Txn ongoing(Collection<TxnPartition> added, short clientVersion, long nowMs) {
        SortedSet<TxnPartition> all = new TreeSet<>(partitions);
        all.addAll(added);
        return new Txn(
                id,
                producerId,
                producerId,
                NONE,
                epoch,
                lastEpoch,
                timeoutMs,
                TxnStatus.ONGOING,
                all,
                status == TxnStatus.ONGOING ? startMs : nowMs,
                nowMs,
                clientVersion);
    }

    /** Decided. */
    Txn prepared(boolean commit, short newEpoch, short newLastEpoch, long followingId, short newVersion, long nowMs) {
        return new Txn(
                id,
                producerId,
                producerId,
                followingId,
                newEpoch,
                newLastEpoch,
                timeoutMs,
                commit ? TxnStatus.PREPARE_COMMIT : TxnStatus.PREPARE_ABORT,
                partitions,
                status == TxnStatus.ONGOING ? startMs : nowMs,
                nowMs,
                newVersion);
    }

    /** All markers are written. */
    Txn completed(long nowMs) {
        boolean rotates = nextProducerId != NONE;
        return new Txn(
                id,
                rotates ? nextProducerId : producerId,
                producerId,
                NONE,
                rotates ? 0 : epoch,
                rotates ? epoch : lastEpoch,
                timeoutMs,
                status == TxnStatus.PREPARE_COMMIT ? TxnStatus.COMPLETE_COMMIT : TxnStatus.COMPLETE_ABORT,
                NOWHERE,
                startMs,
                nowMs,
                version);
    }
}
