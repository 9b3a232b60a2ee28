package io.varve.serving.kafka.txn;

import io.varve.serving.core.txn.Txn;
import io.varve.serving.core.txn.TxnPartition;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.apache.kafka.common.message.DescribeTransactionsResponseData;
import org.apache.kafka.common.message.DescribeTransactionsResponseData.TopicData;
import org.apache.kafka.common.message.ListTransactionsResponseData;
import org.apache.kafka.common.protocol.Errors;

/** Transactions as admin clients see them. */
final class TxnDescriptions {

    private TxnDescriptions() {}

    /** What one partition of the transaction log lists. */
    record Listed(List<ListTransactionsResponseData.TransactionState> states, Errors error) {}

    static DescribeTransactionsResponseData.TransactionState failed(String id, Errors error) {
        return new DescribeTransactionsResponseData.TransactionState()
                .setTransactionalId(id)
                .setErrorCode(error.code());
    }

    static DescribeTransactionsResponseData.TransactionState describe(String id, Optional<Txn> found) {
        if (found.isEmpty()) {
            return failed(id, Errors.TRANSACTIONAL_ID_NOT_FOUND);
        }
        Txn txn = found.get();
        DescribeTransactionsResponseData.TransactionState state =
                new DescribeTransactionsResponseData.TransactionState()
                        .setTransactionalId(id)
                        .setProducerId(txn.producerId())
                        .setProducerEpoch(txn.epoch())
                        .setTransactionState(txn.status().title())
                        .setTransactionTimeoutMs(txn.timeoutMs())
                        .setTransactionStartTimeMs(txn.startMs());
        for (TxnPartition partition : txn.partitions()) {
            TopicData topic = state.topics().find(partition.topic());
            if (topic == null) {
                topic = new TopicData().setTopic(partition.topic());
                state.topics().add(topic);
            }
            topic.partitions().add(partition.index());
        }
        return state;
    }

    static Listed list(List<Txn> txns, TxnFilter filter, long nowMs) {
        List<ListTransactionsResponseData.TransactionState> states = new ArrayList<>();
        for (Txn txn : txns) {
            if (filter.accepts(txn, nowMs)) {
                states.add(new ListTransactionsResponseData.TransactionState()
                        .setTransactionalId(txn.id())
                        .setProducerId(txn.producerId())
                        .setTransactionState(txn.status().title()));
            }
        }
        return new Listed(states, Errors.NONE);
    }

    /** All of them, or that one partition can't say: a list with something missing would pass for the whole. */
    static ListTransactionsResponseData merge(List<Listed> parts, TxnFilter filter) {
        ListTransactionsResponseData response =
                new ListTransactionsResponseData().setUnknownStateFilters(filter.unknownStates());
        for (Listed part : parts) {
            // A partition that moved away is listed by its new owner.
            if (part.error() != Errors.NONE && part.error() != Errors.NOT_COORDINATOR) {
                return new ListTransactionsResponseData()
                        .setErrorCode(part.error().code());
            }
            response.transactionStates().addAll(part.states());
        }
        return response;
    }
}
