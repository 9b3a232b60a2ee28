package io.varve.serving.coordinator;

import java.util.Collection;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.AddOffsetsToTxnRequestData;
import org.apache.kafka.common.message.AddOffsetsToTxnResponseData;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData;
import org.apache.kafka.common.message.AddPartitionsToTxnResponseData;
import org.apache.kafka.common.message.DescribeTransactionsRequestData;
import org.apache.kafka.common.message.DescribeTransactionsResponseData;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.message.EndTxnResponseData;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.ListTransactionsRequestData;
import org.apache.kafka.common.message.ListTransactionsResponseData;
import org.apache.kafka.common.message.WriteTxnMarkersRequestData;
import org.apache.kafka.common.message.WriteTxnMarkersResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestContext;

/**
 * The coordinators of transactions: one method for each API of Kafka's protocol, request in, response out, in the form of the version that
 * {@code context} names. Safe for any thread; nothing blocks. Futures never fail: trouble is an error code in the response.
 */
public interface TransactionCoordinators {

    /** A producer's id and epoch: a fresh one without a transactional id, else the one of its transactional id, which fences older producers. */
    CompletableFuture<InitProducerIdResponseData> initProducerId(
            RequestContext context, InitProducerIdRequestData request);

    /** Adds partitions to transactions, or only checks that they are in; batches from version 4 on. */
    CompletableFuture<AddPartitionsToTxnResponseData> addPartitionsToTxn(
            RequestContext context, AddPartitionsToTxnRequestData request);

    /** Adds a group's partition of {@code __consumer_offsets} to a transaction. */
    CompletableFuture<AddOffsetsToTxnResponseData> addOffsetsToTxn(
            RequestContext context, AddOffsetsToTxnRequestData request);

    /** Commits or aborts. Answered when the decision is durable; the markers follow. */
    CompletableFuture<EndTxnResponseData> endTxn(RequestContext context, EndTxnRequestData request);

    /** Writes markers to partitions that this broker owns, those of {@code __consumer_offsets} included. */
    CompletableFuture<WriteTxnMarkersResponseData> writeTxnMarkers(
            RequestContext context, WriteTxnMarkersRequestData request);

    /** Describes transactional ids. */
    CompletableFuture<DescribeTransactionsResponseData> describeTransactions(
            RequestContext context, DescribeTransactionsRequestData request);

    /** Lists the transactional ids of all coordinators of this broker. */
    CompletableFuture<ListTransactionsResponseData> listTransactions(
            RequestContext context, ListTransactionsRequestData request);

    /**
     * Asks the coordinator of {@code transactionalId}, wherever it is, about a transactional write that is about to be appended here
     * (KIP-890). To be asked before the append that opens a transaction on a partition: one that {@link
     * io.varve.serving.log.PartitionLog} doesn't know to be open.
     *
     * @return an error for each partition: NONE, or the code to give to the producer
     */
    CompletableFuture<Map<TopicPartition, Errors>> verify(
            String transactionalId,
            long producerId,
            short producerEpoch,
            Collection<TopicPartition> partitions,
            Verification verification);

    /** What to ask. */
    enum Verification {
        /** Produce below 11, TxnOffsetCommit below 4: the client added the partitions itself and doesn't know TRANSACTION_ABORTABLE. */
        VERIFY_FOR_OLD_CLIENT,
        /** Produce 11, TxnOffsetCommit 4: the client added the partitions itself. */
        VERIFY,
        /** Produce from 12, TxnOffsetCommit from 5 on, protocol version 2: the broker adds the partitions for the client. */
        ADD
    }
}
