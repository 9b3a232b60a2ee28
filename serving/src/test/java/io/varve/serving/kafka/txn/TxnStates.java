package io.varve.serving.kafka.txn;

import static io.varve.serving.kafka.Eventually.get;

import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.kafka.Contexts;
import java.util.List;
import org.apache.kafka.common.message.DescribeTransactionsRequestData;
import org.apache.kafka.common.message.DescribeTransactionsResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;

/** What an admin client is told of transactions. */
final class TxnStates {

    private TxnStates() {}

    static DescribeTransactionsResponseData.TransactionState describe(TransactionCoordinators coordinator, String id) {
        return get(coordinator.describeTransactions(
                        Contexts.of(ApiKeys.DESCRIBE_TRANSACTIONS),
                        new DescribeTransactionsRequestData().setTransactionalIds(List.of(id))))
                .transactionStates()
                .get(0);
    }

    /** The state's name, or the error's. */
    static String of(TransactionCoordinators coordinator, String id) {
        DescribeTransactionsResponseData.TransactionState state = describe(coordinator, id);
        return state.errorCode() == Errors.NONE.code()
                ? state.transactionState()
                : Errors.forCode(state.errorCode()).name();
    }
}
