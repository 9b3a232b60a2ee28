package io.varve.serving.log;

/** Why a log did not do what it was asked. Each has one Kafka error code; {@code serving.net} knows which. */
public enum LogError {
    /** It did. */
    NONE,
    /** Served elsewhere now: look up again. The outcome of an append that fails so is unknown. */
    NOT_OWNER,
    /** Too few bookies can take it at the moment: try again. */
    NOT_ENOUGH_REPLICAS,
    /** It was written but not acknowledged in time; it may yet be. */
    TIMED_OUT,
    /** Below the log's start or above the bound for the reader. */
    OFFSET_OUT_OF_RANGE,
    /** Larger than the topic allows. */
    TOO_LARGE,
    /** Damaged. */
    CORRUPT,
    /** Not a record batch that is allowed here. */
    INVALID_RECORD,
    /** A time stamp out of the topic's bounds. */
    INVALID_TIMESTAMP,
    /** The producer skipped sequence numbers. */
    OUT_OF_ORDER_SEQUENCE,
    /** A repeat of something older than what is remembered. */
    DUPLICATE_SEQUENCE,
    /** A newer producer of the same id took over. */
    INVALID_PRODUCER_EPOCH,
    /** Nothing is known of the producer, and it isn't at its start. */
    UNKNOWN_PRODUCER,
    /** The transaction is not in a state that allows it. */
    INVALID_TXN_STATE,
    /** A marker of an older coordinator. */
    COORDINATOR_FENCED,
    /** The data exist but can't be read at the moment: try again (I-7). */
    STORAGE_UNAVAILABLE,
    /** Too much is waiting here: slow down. */
    OVERLOADED,
    /** The requested thing is not in the log's range or the request makes no sense. */
    INVALID
}
