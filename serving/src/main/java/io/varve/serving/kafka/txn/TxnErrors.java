package io.varve.serving.kafka.txn;

import io.varve.serving.core.txn.TxnError;
import org.apache.kafka.common.protocol.Errors;

/** The Kafka codes of {@link TxnError}, as versions of the protocol know them. */
final class TxnErrors {

    private TxnErrors() {}

    static Errors codeOf(TxnError error) {
        return switch (error) {
            case NONE -> Errors.NONE;
            case INVALID_REQUEST -> Errors.INVALID_REQUEST;
            case INVALID_PRODUCER_ID_MAPPING -> Errors.INVALID_PRODUCER_ID_MAPPING;
            case PRODUCER_FENCED -> Errors.PRODUCER_FENCED;
            case CONCURRENT_TRANSACTIONS -> Errors.CONCURRENT_TRANSACTIONS;
            case INVALID_TXN_STATE -> Errors.INVALID_TXN_STATE;
            case TRANSACTION_ABORTABLE -> Errors.TRANSACTION_ABORTABLE;
            case TRANSACTIONAL_ID_NOT_FOUND -> Errors.TRANSACTIONAL_ID_NOT_FOUND;
        };
    }

    /** {@code error} for a client whose version of the API knows PRODUCER_FENCED only from {@code sinceVersion} on (KIP-588). */
    static Errors fencedSince(int sinceVersion, int version, Errors error) {
        return error == Errors.PRODUCER_FENCED && version < sinceVersion ? Errors.INVALID_PRODUCER_EPOCH : error;
    }
}
