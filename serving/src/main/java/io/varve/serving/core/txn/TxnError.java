package io.varve.serving.core.txn;

/** Why a request about a transaction was refused. Each is the Kafka error of the same name. */
public enum TxnError {
    /** It wasn't. */
    NONE,
    /** It makes no sense. */
    INVALID_REQUEST,
    /** The transactional id is unknown, or has another producer id. */
    INVALID_PRODUCER_ID_MAPPING,
    /** A newer producer of the same transactional id exists. */
    PRODUCER_FENCED,
    /** The transaction is ending: try again. */
    CONCURRENT_TRANSACTIONS,
    /** The transaction's state doesn't allow it. */
    INVALID_TXN_STATE,
    /** The partition is not in the transaction: abort it. */
    TRANSACTION_ABORTABLE,
    /** The transactional id is unknown. */
    TRANSACTIONAL_ID_NOT_FOUND
}
