package io.varve.serving.request;

import io.varve.metadata.api.MetadataException;
import java.util.concurrent.CompletionException;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ApiError;

/** The Kafka error for what the metadata service refused. */
public final class MetadataErrors {

    private MetadataErrors() {}

    /** The error with its line for a person. */
    public static ApiError toKafka(Throwable failure) {
        Throwable cause =
                failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        return cause instanceof MetadataException refused
                ? new ApiError(toKafka(refused.reason()), refused.getMessage())
                : ApiError.fromThrowable(cause);
    }

    private static Errors toKafka(MetadataException.Reason reason) {
        return switch (reason) {
            case STALE_EPOCH, CHAIN_MOVED -> Errors.NOT_LEADER_OR_FOLLOWER;
            case NOT_FOUND -> Errors.UNKNOWN_TOPIC_OR_PARTITION;
            case ALREADY_EXISTS -> Errors.TOPIC_ALREADY_EXISTS;
            case INVALID -> Errors.INVALID_REQUEST;
            case INVALID_TOPIC_NAME -> Errors.INVALID_TOPIC_EXCEPTION;
            case INVALID_PARTITIONS -> Errors.INVALID_PARTITIONS;
            case INVALID_CONFIG -> Errors.INVALID_CONFIG;
            case INVALID_REPLICATION_FACTOR, NOT_ENOUGH_BOOKIES -> Errors.INVALID_REPLICATION_FACTOR;
            case SESSION_EXPIRED, DUPLICATE_NODE -> Errors.BROKER_NOT_AVAILABLE;
            case UNAVAILABLE, UNKNOWN_OUTCOME -> Errors.REQUEST_TIMED_OUT;
        };
    }
}
