package io.varve.serving.core.txn;

import java.util.Optional;

/** What is to be done with a request about a transaction. */
public sealed interface TxnDecision {

    /**
     * The state becomes {@code next}; the answer follows when that is durable.
     *
     * @param error to answer with all the same: a producer that had to be fenced first is told to try again
     */
    record Change(Txn next, TxnError error, long producerId, short epoch) implements TxnDecision {}

    /**
     * Nothing changes.
     *
     * @param error NONE for a repeat, or for what is so already
     * @param producerId to answer with, if there is no error
     * @param epoch to answer with, if there is no error
     */
    record Answer(TxnError error, long producerId, short epoch) implements TxnDecision {}

    /** It can't be decided without a producer id that nobody has: ask again with one. */
    record NeedsProducerId() implements TxnDecision {}

    /** The error that the client will get. */
    default TxnError error() {
        if (this instanceof Change change) {
            return change.error();
        }
        return this instanceof Answer answer ? answer.error() : TxnError.NONE;
    }

    /** The state after it, if it changes. */
    default Optional<Txn> changed() {
        return this instanceof Change change ? Optional.of(change.next()) : Optional.empty();
    }

    /** Refuses. */
    static TxnDecision refuse(TxnError error) {
        return new Answer(error, Txn.NONE, Txn.NO_EPOCH);
    }

    /** Answers with what is. */
    static TxnDecision as(Txn txn) {
        return new Answer(TxnError.NONE, txn.producerId(), txn.epoch());
    }
}
