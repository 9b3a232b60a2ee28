package io.varve.serving.kafka.txn;

import io.varve.metadata.model.PartitionState;
import io.varve.serving.coordinator.InternalTopics;
import io.varve.serving.coordinator.TransactionCoordinators.Verification;
import io.varve.serving.core.txn.Txn;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTopic;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTopicCollection;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTransaction;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTransactionCollection;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AddPartitionsToTxnRequest;
import org.apache.kafka.common.requests.AddPartitionsToTxnResponse;

/**
 * Asks a transaction's coordinator, at this broker or another, on behalf of a partition that is about to take a transactional write. What the
 * coordinator says is turned into what the producer of that write understands: it asked nothing of a coordinator.
 */
final class TxnVerifier {

    private final CoordinatorFinder finder;
    private final int brokerId;
    private final BrokerClient brokers;

    TxnVerifier(CoordinatorFinder finder, int brokerId, BrokerClient brokers) {
        this.finder = finder;
        this.brokerId = brokerId;
        this.brokers = brokers;
    }

    CompletableFuture<Map<TopicPartition, Errors>> verify(
            KafkaTransactions here,
            String id,
            long producerId,
            short epoch,
            Collection<TopicPartition> partitions,
            Verification verification) {
        Optional<Integer> owner = finder.partitionFor(InternalTopics.TRANSACTION_STATE, id)
                .map(PartitionState::owner)
                .filter(broker -> broker != PartitionState.NO_OWNER);
        CompletableFuture<Map<TopicPartition, Errors>> asked;
        if (owner.isEmpty()) {
            asked = CompletableFuture.completedFuture(same(partitions, Errors.COORDINATOR_NOT_AVAILABLE));
        } else if (owner.get() != brokerId) {
            asked = askBroker(owner.get(), id, producerId, epoch, partitions, verification);
        } else if (verification == Verification.ADD) {
            asked = here.addHere(id, producerId, epoch, partitions, Txn.EPOCH_PER_TRANSACTION);
        } else {
            asked = here.verifyHere(id, producerId, epoch, partitions);
        }
        return asked.thenApply(answers -> {
            Map<TopicPartition, Errors> errors = new LinkedHashMap<>();
            answers.forEach((partition, error) -> errors.put(partition, forProducer(error, verification)));
            return errors;
        });
    }

    private CompletableFuture<Map<TopicPartition, Errors>> askBroker(
            int broker,
            String id,
            long producerId,
            short epoch,
            Collection<TopicPartition> partitions,
            Verification verification) {
        AddPartitionsToTxnTransactionCollection transactions = new AddPartitionsToTxnTransactionCollection();
        transactions.add(new AddPartitionsToTxnTransaction()
                .setTransactionalId(id)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setVerifyOnly(verification != Verification.ADD)
                .setTopics(topics(partitions)));
        return brokers.send(broker, AddPartitionsToTxnRequest.Builder.forBroker(transactions))
                .handle((response, failed) -> failed != null
                        ? same(partitions, Errors.NETWORK_EXCEPTION)
                        : answersIn((AddPartitionsToTxnResponse) response, id, partitions));
    }

    private static AddPartitionsToTxnTopicCollection topics(Collection<TopicPartition> partitions) {
        AddPartitionsToTxnTopicCollection topics = new AddPartitionsToTxnTopicCollection();
        for (TopicPartition partition : partitions) {
            AddPartitionsToTxnTopic topic = topics.find(partition.topic());
            if (topic == null) {
                topic = new AddPartitionsToTxnTopic().setName(partition.topic());
                topics.add(topic);
            }
            topic.partitions().add(partition.partition());
        }
        return topics;
    }

    private static Map<TopicPartition, Errors> answersIn(
            AddPartitionsToTxnResponse response, String id, Collection<TopicPartition> partitions) {
        Errors whole = Errors.forCode(response.data().errorCode());
        if (whole != Errors.NONE) {
            return same(partitions, whole);
        }
        Map<TopicPartition, Errors> answered = response.errors().getOrDefault(id, Map.of());
        Map<TopicPartition, Errors> errors = new LinkedHashMap<>();
        partitions.forEach(p -> errors.put(p, answered.getOrDefault(p, Errors.UNKNOWN_SERVER_ERROR)));
        return errors;
    }

    private static Map<TopicPartition, Errors> same(Collection<TopicPartition> partitions, Errors error) {
        Map<TopicPartition, Errors> errors = new LinkedHashMap<>();
        List.copyOf(partitions).forEach(p -> errors.put(p, error));
        return errors;
    }

    private static Errors forProducer(Errors error, Verification verification) {
        return switch (error) {
            case PRODUCER_FENCED -> Errors.INVALID_PRODUCER_EPOCH;
            case TRANSACTION_ABORTABLE ->
                verification == Verification.VERIFY_FOR_OLD_CLIENT ? Errors.INVALID_TXN_STATE : error;
            // Only clients of version 2 expect to be told to wait for the end of their last transaction here.
            case CONCURRENT_TRANSACTIONS -> verification == Verification.ADD ? error : Errors.NOT_ENOUGH_REPLICAS;
            case NETWORK_EXCEPTION, NOT_COORDINATOR, COORDINATOR_NOT_AVAILABLE, COORDINATOR_LOAD_IN_PROGRESS ->
                Errors.NOT_ENOUGH_REPLICAS;
            default -> error;
        };
    }
}
