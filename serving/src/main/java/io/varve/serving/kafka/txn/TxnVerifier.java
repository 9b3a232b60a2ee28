package io.varve.serving.kafka.txn;

import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.coordinator.TransactionCoordinators.Verification;
import io.varve.serving.core.txn.Txn;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
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

    /** Doubled from one wait to the next: 155 ms in all. */
    private static final long WAIT_FIRST_MS = 5;

    private static final long WAIT_LAST_MS = 80;

    private final CoordinatorFinder finder;
    private final int brokerId;
    private final BrokerClient brokers;
    private final ScheduledExecutorService threads;

    TxnVerifier(CoordinatorFinder finder, int brokerId, BrokerClient brokers, ScheduledExecutorService threads) {
        this.finder = finder;
        this.brokerId = brokerId;
        this.brokers = brokers;
        this.threads = threads;
    }

    CompletableFuture<Map<TopicPartition, Errors>> verify(
            KafkaTransactions here,
            String id,
            long producerId,
            short epoch,
            Collection<TopicPartition> partitions,
            Verification verification) {
        Question question = new Question(here, id, producerId, epoch, partitions, verification);
        CompletableFuture<Map<TopicPartition, Errors>> answer = new CompletableFuture<>();
        askUntilEnded(question, WAIT_FIRST_MS, answer);
        return answer;
    }

    /**
     * A producer of version 2 writes on as soon as its last transaction is decided, and often finds that the markers, a few milliseconds' work,
     * aren't written yet. Waiting for them here saves it a backoff of a hundred.
     */
    private void askUntilEnded(Question question, long waitMs, CompletableFuture<Map<TopicPartition, Errors>> answer) {
        ask(question).whenComplete((errors, failed) -> {
            if (failed != null) {
                answer.completeExceptionally(failed);
            } else if (waitMs <= WAIT_LAST_MS
                    && question.verification == Verification.ADD
                    && errors.containsValue(Errors.CONCURRENT_TRANSACTIONS)) {
                threads.schedule(() -> askUntilEnded(question, waitMs * 2, answer), waitMs, TimeUnit.MILLISECONDS);
            } else {
                answer.complete(errors);
            }
        });
    }

    private CompletableFuture<Map<TopicPartition, Errors>> ask(Question question) {
        Optional<Integer> owner = finder.partitionFor(InternalTopics.TRANSACTION_STATE, question.id)
                .map(PartitionState::owner)
                .filter(broker -> broker != PartitionState.NO_OWNER);
        CompletableFuture<Map<TopicPartition, Errors>> asked;
        if (owner.isEmpty()) {
            asked = CompletableFuture.completedFuture(same(question.partitions, Errors.COORDINATOR_NOT_AVAILABLE));
        } else if (owner.get() != brokerId) {
            asked = askBroker(
                    owner.get(),
                    question.id,
                    question.producerId,
                    question.epoch,
                    question.partitions,
                    question.verification);
        } else if (question.verification == Verification.ADD) {
            asked = question.here.addHere(
                    question.id, question.producerId, question.epoch, question.partitions, Txn.EPOCH_PER_TRANSACTION);
        } else {
            asked = question.here.verifyHere(question.id, question.producerId, question.epoch, question.partitions);
        }
        return asked.thenApply(answers -> {
            Map<TopicPartition, Errors> errors = new LinkedHashMap<>();
            answers.forEach((partition, error) -> errors.put(partition, forProducer(error, question.verification)));
            return errors;
        });
    }

    private record Question(
            KafkaTransactions here,
            String id,
            long producerId,
            short epoch,
            Collection<TopicPartition> partitions,
            Verification verification) {}

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
