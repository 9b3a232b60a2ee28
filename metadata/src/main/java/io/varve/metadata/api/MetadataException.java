package io.varve.metadata.api;

/** Why the metadata service did not do what it was asked. Futures of {@link MetadataClient} fail with it and nothing else. */
public final class MetadataException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** @param message one line for a person, naming what was refused */
    public MetadataException(Reason reason, String message) {
        super(message);
        this.reason = reason;
    }

    /** What kind of refusal. */
    public Reason reason() {
        return reason;
    }

    /** Kinds of refusal. All but {@link #UNAVAILABLE} and {@link #UNKNOWN_OUTCOME} are final answers of a quorum. */
    public enum Reason {
        /** A compare-and-set lost: somebody newer owns it, or the chain moved on. */
        STALE_EPOCH,
        /** The compare-and-set's other half: the open segment is not the one named. */
        CHAIN_MOVED,
        /** The named thing does not exist. */
        NOT_FOUND,
        /** The name is taken. */
        ALREADY_EXISTS,
        /** The request makes no sense as it stands. */
        INVALID,
        /** A topic's name is not one by Kafka's rules. */
        INVALID_TOPIC_NAME,
        /** A number of partitions that can't be. */
        INVALID_PARTITIONS,
        /** More replicas than there are bookies, or none. */
        INVALID_REPLICATION_FACTOR,
        /** A configuration key is unknown, or its value is wrong. */
        INVALID_CONFIG,
        /** Fewer usable bookies than the segment needs: try again later. */
        NOT_ENOUGH_BOOKIES,
        /** The caller's session has ended or was replaced by a newer process of the same id. */
        SESSION_EXPIRED,
        /** A node of that id lives already, or its incarnation contradicts what is recorded. */
        DUPLICATE_NODE,
        /** It was certainly not done: no quorum, or the service refused it before the log. */
        UNAVAILABLE,
        /** It may or may not have been done, or may yet be: read linearizably before anything irreversible (I-17). */
        UNKNOWN_OUTCOME
    }
}
