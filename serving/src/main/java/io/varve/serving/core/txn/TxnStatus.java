package io.varve.serving.core.txn;

/** How far a transaction has come. Ids and names are Kafka's, in the log and in answers. */
public enum TxnStatus {
    /** None was begun since the producer was initialised. */
    EMPTY(0, "Empty"),
    /** Partitions were added. */
    ONGOING(1, "Ongoing"),
    /** It is decided to commit; markers are being written. */
    PREPARE_COMMIT(2, "PrepareCommit"),
    /** It is decided to abort; markers are being written. */
    PREPARE_ABORT(3, "PrepareAbort"),
    /** All markers of a commit are written. */
    COMPLETE_COMMIT(4, "CompleteCommit"),
    /** All markers of an abort are written. */
    COMPLETE_ABORT(5, "CompleteAbort");

    private final byte id;
    private final String title;

    TxnStatus(int id, String title) {
        this.id = (byte) id;
        this.title = title;
    }

    /** In the transaction log. */
    public byte id() {
        return id;
    }

    /** In answers to clients. */
    public String title() {
        return title;
    }

    /** Decided, but not all markers are written. */
    public boolean prepared() {
        return this == PREPARE_COMMIT || this == PREPARE_ABORT;
    }

    /** Nothing is open. */
    public boolean idle() {
        return this == EMPTY || this == COMPLETE_COMMIT || this == COMPLETE_ABORT;
    }

    /** @throws IllegalArgumentException if no status has that id */
    public static TxnStatus of(byte id) {
        for (TxnStatus status : values()) {
            if (status.id == id) {
                return status;
            }
        }
        throw new IllegalArgumentException("no transaction status has id " + id);
    }
}
