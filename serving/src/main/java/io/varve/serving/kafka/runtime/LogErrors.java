package io.varve.serving.kafka.runtime;

import io.varve.serving.log.LogError;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.protocol.Errors;

/** The Kafka error that a coordinator's log answers with. The runtime turns these into what clients of a coordinator may see. */
public final class LogErrors {

    private LogErrors() {}

    /** The code. */
    public static Errors codeOf(LogError error) {
        return switch (error) {
            case NONE -> Errors.NONE;
            case NOT_OWNER -> Errors.NOT_LEADER_OR_FOLLOWER;
            case NOT_ENOUGH_REPLICAS, OVERLOADED -> Errors.NOT_ENOUGH_REPLICAS;
            case TIMED_OUT -> Errors.REQUEST_TIMED_OUT;
            case OFFSET_OUT_OF_RANGE -> Errors.OFFSET_OUT_OF_RANGE;
            case TOO_LARGE -> Errors.MESSAGE_TOO_LARGE;
            case CORRUPT -> Errors.CORRUPT_MESSAGE;
            case INVALID_RECORD -> Errors.INVALID_RECORD;
            case INVALID_TIMESTAMP -> Errors.INVALID_TIMESTAMP;
            case OUT_OF_ORDER_SEQUENCE -> Errors.OUT_OF_ORDER_SEQUENCE_NUMBER;
            case DUPLICATE_SEQUENCE -> Errors.DUPLICATE_SEQUENCE_NUMBER;
            case INVALID_PRODUCER_EPOCH -> Errors.INVALID_PRODUCER_EPOCH;
            case UNKNOWN_PRODUCER -> Errors.UNKNOWN_PRODUCER_ID;
            case INVALID_TXN_STATE -> Errors.INVALID_TXN_STATE;
            case COORDINATOR_FENCED -> Errors.TRANSACTION_COORDINATOR_FENCED;
            case STORAGE_UNAVAILABLE -> Errors.KAFKA_STORAGE_ERROR;
            case INVALID -> Errors.INVALID_REQUEST;
        };
    }

    /** The exception of {@link #codeOf}. */
    public static ApiException exceptionOf(LogError error) {
        return codeOf(error).exception();
    }
}
