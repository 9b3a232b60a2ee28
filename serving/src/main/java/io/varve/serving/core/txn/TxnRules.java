package io.varve.serving.core.txn;

import io.varve.base.Invariant;
import java.util.Collection;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The decisions. Every method takes the state of a transactional id, speculative or durable, and the request, and says what to do.
 *
 * <pre>
 *              add partitions                end               all markers written
 *   EMPTY ─────────────────► ONGOING ──────► PREPARE_COMMIT ─────────────────► COMPLETE_COMMIT ─┐
 *     ▲                         │  └───────► PREPARE_ABORT  ─────────────────► COMPLETE_ABORT ──┤
 *     │ initialise              │ initialise, time-out: fence and abort    ▲                    │
 *     └─────────────────────────┴──────────────────────────────────────────┴── end with nothing in it (version 2)
 *                                                          add partitions: ONGOING again ◄──────┘
 * </pre>
 *
 * <p>In version 1 a transaction has the epoch of its producer. In version 2 each end bumps the epoch, so that a straggler of one
 * transaction can't write into the next; the marker carries the bumped epoch.
 */
public final class TxnRules {

    /** What is recorded for an abort that the coordinator itself decided. No client knows the epoch it has, so no end can be its repeat. */
    private static final short COORDINATORS_OWN_VERSION = 1;

    private TxnRules() {}

    /**
     * InitProducerId with a transactional id.
     *
     * @param current empty if the id is unknown
     * @param expectedProducerId of a producer that goes on after an error (KIP-360), else {@link Txn#NONE}
     * @param expectedEpoch of that producer
     * @param freshId a producer id that nobody has, if one was fetched
     */
    public static TxnDecision initialise(
            String id,
            Optional<Txn> current,
            int timeoutMs,
            long expectedProducerId,
            short expectedEpoch,
            OptionalLong freshId,
            long nowMs) {
        if (current.isEmpty()) {
            return freshId.isEmpty()
                    ? new TxnDecision.NeedsProducerId()
                    : initialised(Txn.initialised(
                            id, freshId.getAsLong(), Txn.NONE, (short) 0, Txn.NO_EPOCH, timeoutMs, nowMs, (short) 0));
        }
        Txn txn = current.get();
        boolean continues = expectedProducerId != Txn.NONE;
        if (continues && !mayBe(txn, expectedProducerId, expectedEpoch)) {
            return TxnDecision.refuse(TxnError.PRODUCER_FENCED);
        }
        return switch (txn.status()) {
            case PREPARE_COMMIT, PREPARE_ABORT -> TxnDecision.refuse(TxnError.CONCURRENT_TRANSACTIONS);
            // Only the present producer, or a new one, may end what is open; Kafka would let a fenced one abort it.
            case ONGOING ->
                continues && expectedEpoch != txn.epoch()
                        ? TxnDecision.refuse(TxnError.PRODUCER_FENCED)
                        : fence(txn, nowMs);
            case EMPTY, COMPLETE_COMMIT, COMPLETE_ABORT ->
                bump(txn, timeoutMs, continues, expectedProducerId, expectedEpoch, freshId, nowMs);
        };
    }

    /** Whether a producer with that id can be the present one, or one whose answer with a newer id was lost. */
    private static boolean mayBe(Txn txn, long producerId, short epoch) {
        return producerId == txn.producerId() || (producerId == txn.previousProducerId() && epoch >= Txn.EPOCH_MAX);
    }

    private static TxnDecision bump(
            Txn txn,
            int timeoutMs,
            boolean continues,
            long expectedProducerId,
            short expectedEpoch,
            OptionalLong freshId,
            long nowMs) {
        if (continues && expectedEpoch != txn.epoch()) {
            // A repeat of the bump that made the present epoch, or somebody who was fenced by it.
            return expectedEpoch == txn.lastEpoch()
                    ? TxnDecision.as(txn)
                    : TxnDecision.refuse(TxnError.PRODUCER_FENCED);
        }
        if (continues && expectedProducerId != txn.producerId()) {
            return TxnDecision.refuse(TxnError.PRODUCER_FENCED);
        }
        short last = continues ? txn.epoch() : Txn.NO_EPOCH;
        if (!txn.epochsExhausted()) {
            short next = (short) (txn.epoch() + 1);
            return initialised(Txn.initialised(
                    txn.id(), txn.producerId(), txn.producerId(), next, last, timeoutMs, nowMs, txn.version()));
        }
        return freshId.isEmpty()
                ? new TxnDecision.NeedsProducerId()
                : initialised(Txn.initialised(
                        txn.id(),
                        freshId.getAsLong(),
                        txn.producerId(),
                        (short) 0,
                        last,
                        timeoutMs,
                        nowMs,
                        txn.version()));
    }

    private static TxnDecision initialised(Txn next) {
        return new TxnDecision.Change(next, TxnError.NONE, next.producerId(), next.epoch());
    }

    /** Aborts what is open under an epoch that nobody was given. Whoever asked tries again and gets one above it. */
    private static TxnDecision fence(Txn txn, long nowMs) {
        Invariant.check(txn.epoch() < Short.MAX_VALUE, "an open transaction can be fenced", txn.epoch());
        short fencing = (short) (txn.epoch() + 1);
        Txn aborted = txn.prepared(false, fencing, Txn.NO_EPOCH, Txn.NONE, COORDINATORS_OWN_VERSION, nowMs);
        return new TxnDecision.Change(aborted, TxnError.CONCURRENT_TRANSACTIONS, Txn.NONE, Txn.NO_EPOCH);
    }

    /** Aborts a transaction that has been open for longer than its producer allowed. */
    public static TxnDecision timeOut(Txn txn, long nowMs) {
        boolean late = txn.status() == TxnStatus.ONGOING && nowMs - txn.startMs() >= txn.timeoutMs();
        return late ? fence(txn, nowMs) : TxnDecision.as(txn);
    }

    /** Whether nothing has happened to the id for so long that it can be forgotten. */
    public static boolean expired(Txn txn, long retentionMs, long nowMs) {
        return txn.status().idle() && nowMs - txn.updateMs() >= retentionMs;
    }

    /** AddPartitionsToTxn and AddOffsetsToTxn. */
    public static TxnDecision addPartitions(
            Optional<Txn> current,
            long producerId,
            short epoch,
            Collection<TxnPartition> partitions,
            short clientVersion,
            long nowMs) {
        TxnError refusal = refusalOf(current, producerId, epoch);
        if (refusal != TxnError.NONE) {
            return TxnDecision.refuse(refusal);
        }
        Txn txn = current.orElseThrow();
        if (txn.status().prepared()) {
            return TxnDecision.refuse(TxnError.CONCURRENT_TRANSACTIONS);
        }
        if (txn.status() == TxnStatus.ONGOING && txn.partitions().containsAll(partitions)) {
            return TxnDecision.as(txn);
        }
        Txn next = txn.ongoing(partitions, clientVersion, nowMs);
        return new TxnDecision.Change(next, TxnError.NONE, next.producerId(), next.epoch());
    }

    /** Whether each of {@code partitions} is in the producer's open transaction (KIP-890, first part). */
    public static SortedMap<TxnPartition, TxnError> verify(
            Optional<Txn> current, long producerId, short epoch, Collection<TxnPartition> partitions) {
        TxnError refusal = refusalOf(current, producerId, epoch);
        if (refusal == TxnError.NONE && current.orElseThrow().status().prepared()) {
            refusal = TxnError.CONCURRENT_TRANSACTIONS;
        }
        SortedMap<TxnPartition, TxnError> answers = new TreeMap<>();
        for (TxnPartition partition : partitions) {
            if (refusal != TxnError.NONE) {
                answers.put(partition, refusal);
            } else {
                boolean in = current.orElseThrow().partitions().contains(partition);
                answers.put(partition, in ? TxnError.NONE : TxnError.TRANSACTION_ABORTABLE);
            }
        }
        return answers;
    }

    private static TxnError refusalOf(Optional<Txn> current, long producerId, short epoch) {
        if (current.isEmpty() || current.get().producerId() != producerId) {
            return TxnError.INVALID_PRODUCER_ID_MAPPING;
        }
        return current.get().epoch() == epoch ? TxnError.NONE : TxnError.PRODUCER_FENCED;
    }

    /**
     * EndTxn.
     *
     * @param clientVersion 2 if the client expects its epoch to be bumped
     * @param freshId a producer id that nobody has, if one was fetched
     */
    public static TxnDecision end(
            Optional<Txn> current,
            long producerId,
            short epoch,
            boolean commit,
            short clientVersion,
            OptionalLong freshId,
            long nowMs) {
        if (current.isEmpty()) {
            return TxnDecision.refuse(TxnError.INVALID_PRODUCER_ID_MAPPING);
        }
        Txn txn = current.get();
        boolean rotated = isRepeatOfRotatingEnd(txn, producerId, epoch);
        boolean repeat = rotated || isRepeatOfEnd(txn, epoch);
        if (txn.producerId() != producerId && !rotated) {
            return TxnDecision.refuse(TxnError.INVALID_PRODUCER_ID_MAPPING);
        }
        if (!mayEnd(txn, epoch, repeat)) {
            return TxnDecision.refuse(TxnError.PRODUCER_FENCED);
        }
        boolean bumps = clientVersion >= Txn.EPOCH_PER_TRANSACTION;
        return switch (txn.status()) {
            case ONGOING -> prepare(txn, commit, clientVersion, freshId, nowMs);
            case PREPARE_COMMIT, PREPARE_ABORT ->
                TxnDecision.refuse(
                        commit == (txn.status() == TxnStatus.PREPARE_COMMIT)
                                ? TxnError.CONCURRENT_TRANSACTIONS
                                : TxnError.INVALID_TXN_STATE);
            case COMPLETE_COMMIT, COMPLETE_ABORT -> {
                boolean same = commit == (txn.status() == TxnStatus.COMPLETE_COMMIT);
                if (same && (repeat || !txn.hasEpochPerTransaction())) {
                    yield TxnDecision.as(txn);
                }
                yield !repeat && !commit && bumps
                        ? prepare(txn, false, clientVersion, freshId, nowMs)
                        : TxnDecision.refuse(TxnError.INVALID_TXN_STATE);
            }
            case EMPTY ->
                !commit && bumps
                        ? prepare(txn, false, clientVersion, freshId, nowMs)
                        : TxnDecision.refuse(TxnError.INVALID_TXN_STATE);
        };
    }

    /** Version 2: the client didn't hear that its transaction ended, and the epoch is one further. */
    private static boolean isRepeatOfEnd(Txn txn, short epoch) {
        return txn.hasEpochPerTransaction()
                && !txn.status().equals(TxnStatus.ONGOING)
                && !txn.status().equals(TxnStatus.EMPTY)
                && txn.epoch() == epoch + 1;
    }

    /** Version 2: the same, and the epochs ran out, so that there is a new producer id. */
    private static boolean isRepeatOfRotatingEnd(Txn txn, long producerId, short epoch) {
        return txn.hasEpochPerTransaction()
                && (txn.status() == TxnStatus.COMPLETE_COMMIT || txn.status() == TxnStatus.COMPLETE_ABORT)
                && txn.previousProducerId() == producerId
                && txn.producerId() != producerId
                && epoch == Txn.EPOCH_MAX
                && txn.epoch() == 0;
    }

    private static boolean mayEnd(Txn txn, short epoch, boolean repeat) {
        if (!txn.hasEpochPerTransaction()) {
            return epoch == txn.epoch();
        }
        // In version 2 the present epoch is that of the next transaction once one has ended.
        return txn.status().prepared() ? repeat : repeat || epoch == txn.epoch();
    }

    private static TxnDecision prepare(Txn txn, boolean commit, short clientVersion, OptionalLong freshId, long nowMs) {
        if (clientVersion < Txn.EPOCH_PER_TRANSACTION) {
            Txn next = txn.prepared(commit, txn.epoch(), txn.lastEpoch(), Txn.NONE, clientVersion, nowMs);
            return new TxnDecision.Change(next, TxnError.NONE, next.producerId(), next.epoch());
        }
        boolean rotates = txn.epochsExhausted();
        if (rotates && freshId.isEmpty()) {
            return new TxnDecision.NeedsProducerId();
        }
        short bumped = (short) (txn.epoch() + 1);
        long followingId = rotates ? freshId.getAsLong() : Txn.NONE;
        Txn next = txn.prepared(commit, bumped, txn.epoch(), followingId, clientVersion, nowMs);
        return rotates
                ? new TxnDecision.Change(next, TxnError.NONE, followingId, (short) 0)
                : new TxnDecision.Change(next, TxnError.NONE, next.producerId(), bumped);
    }

    /**
     * All markers are written.
     *
     * @return the state afterwards; empty if the transaction that they were for is not the present one any more
     */
    public static Optional<Txn> complete(Optional<Txn> current, long producerId, short epoch, long nowMs) {
        return current.filter(txn -> txn.status().prepared() && txn.producerId() == producerId && txn.epoch() == epoch)
                .map(txn -> txn.completed(nowMs));
    }
}
