package io.varve.serving.kafka.txn;

import static io.varve.serving.kafka.Eventually.get;

import io.netty.buffer.Unpooled;
import io.varve.metadata.model.InternalTopics;
import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.kafka.Contexts;
import io.varve.serving.kafka.Eventually;
import io.varve.serving.kafka.TestCluster;
import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.message.AddOffsetsToTxnRequestData;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTopic;
import org.apache.kafka.common.message.AddPartitionsToTxnRequestData.AddPartitionsToTxnTopicCollection;
import org.apache.kafka.common.message.EndTxnRequestData;
import org.apache.kafka.common.message.EndTxnResponseData;
import org.apache.kafka.common.message.InitProducerIdRequestData;
import org.apache.kafka.common.message.InitProducerIdResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestPartition;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData.TxnOffsetCommitRequestTopic;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.SimpleRecord;

/** What a transactional producer does, of either version of the protocol: it follows coordinators and repeats what it may repeat. */
final class TestProducer {

    /** What a client tries again, after looking for its coordinator. */
    private static final Set<Errors> RETRIABLE = Set.of(
            Errors.NOT_COORDINATOR,
            Errors.COORDINATOR_NOT_AVAILABLE,
            Errors.COORDINATOR_LOAD_IN_PROGRESS,
            Errors.CONCURRENT_TRANSACTIONS);

    private final TestCluster cluster;
    private final String id;
    private final boolean versionTwo;
    private final int timeoutMs;

    long producerId = -1;
    short epoch = -1;
    private final Map<String, Integer> sequences = new TreeMap<>();

    TestProducer(TestCluster cluster, String id, boolean versionTwo, int timeoutMs) {
        this.cluster = cluster;
        this.id = id;
        this.versionTwo = versionTwo;
        this.timeoutMs = timeoutMs;
    }

    private TransactionCoordinators coordinator() {
        return cluster.broker(cluster.ownerOf(InternalTopics.TRANSACTION_STATE, 0))
                .transactions();
    }

    private static Errors persist(Supplier<Errors> attempt) {
        return Eventually.until(attempt, error -> !RETRIABLE.contains(error));
    }

    Errors init() {
        return persist(() -> {
            InitProducerIdResponseData answer = get(coordinator()
                    .initProducerId(
                            Contexts.of(ApiKeys.INIT_PRODUCER_ID, 5),
                            new InitProducerIdRequestData()
                                    .setTransactionalId(id)
                                    .setTransactionTimeoutMs(timeoutMs)
                                    .setProducerId(producerId)
                                    .setProducerEpoch(epoch)));
            if (answer.errorCode() == Errors.NONE.code()) {
                producerId = answer.producerId();
                epoch = answer.producerEpoch();
            }
            return Errors.forCode(answer.errorCode());
        });
    }

    /** Adds the partition, in version 1, or has the broker do it. */
    Errors add(String topic, int partition) {
        TopicPartition name = new TopicPartition(topic, partition);
        if (versionTwo) {
            return persist(() -> get(cluster.broker(cluster.ownerOf(topic, partition))
                                            .transactions()
                                            .verify(
                                                    id,
                                                    producerId,
                                                    epoch,
                                                    List.of(name),
                                                    TransactionCoordinators.Verification.ADD))
                                    .get(name)
                                    // The producer of a data partition is told so when the coordinator is away.
                                    .code()
                            == Errors.NOT_ENOUGH_REPLICAS.code()
                    ? Errors.NOT_COORDINATOR
                    : verified(name));
        }
        AddPartitionsToTxnTopicCollection topics = new AddPartitionsToTxnTopicCollection();
        topics.add(new AddPartitionsToTxnTopic().setName(topic).setPartitions(List.of(partition)));
        return persist(() -> Errors.forCode(get(coordinator()
                        .addPartitionsToTxn(
                                Contexts.of(ApiKeys.ADD_PARTITIONS_TO_TXN, 3),
                                new AddPartitionsToTxnRequestData()
                                        .setV3AndBelowTransactionalId(id)
                                        .setV3AndBelowProducerId(producerId)
                                        .setV3AndBelowProducerEpoch(epoch)
                                        .setV3AndBelowTopics(topics)))
                .resultsByTopicV3AndBelow()
                .find(topic)
                .resultsByPartition()
                .find(partition)
                .partitionErrorCode()));
    }

    private Errors verified(TopicPartition name) {
        return get(coordinator()
                        .verify(id, producerId, epoch, List.of(name), TransactionCoordinators.Verification.VERIFY))
                .get(name);
    }

    /** Appends one record to the partition's log, as a produce request would. */
    LogError write(String topic, int partition) {
        int sequence = sequences.merge(topic + partition + "/" + producerId + "/" + epoch, 0, (next, zero) -> next + 1);
        MemoryRecords batch = MemoryRecords.withTransactionalRecords(
                Compression.NONE, producerId, epoch, sequence, new SimpleRecord(1, "k".getBytes(), "v".getBytes()));
        return Eventually.until(
                () -> get(cluster.log(topic, partition)
                                .append(
                                        List.of(new PartitionLog.Batch(
                                                Unpooled.wrappedBuffer(
                                                        batch.buffer().duplicate()),
                                                1,
                                                1,
                                                producerId,
                                                epoch,
                                                sequence,
                                                true)),
                                        PartitionLog.AppendOptions.CLIENT))
                        .error(),
                error -> error != LogError.NOT_OWNER);
    }

    Errors addOffsets(String group) {
        return persist(() -> Errors.forCode(get(coordinator()
                        .addOffsetsToTxn(
                                Contexts.of(ApiKeys.ADD_OFFSETS_TO_TXN),
                                new AddOffsetsToTxnRequestData()
                                        .setTransactionalId(id)
                                        .setProducerId(producerId)
                                        .setProducerEpoch(epoch)
                                        .setGroupId(group)))
                .errorCode()));
    }

    Errors commitOffset(String group, String topic, long offset) {
        TxnOffsetCommitRequestData request = new TxnOffsetCommitRequestData()
                .setTransactionalId(id)
                .setGroupId(group)
                .setProducerId(producerId)
                .setProducerEpoch(epoch)
                .setTopics(List.of(new TxnOffsetCommitRequestTopic()
                        .setName(topic)
                        .setPartitions(List.of(new TxnOffsetCommitRequestPartition()
                                .setPartitionIndex(0)
                                .setCommittedOffset(offset)
                                .setCommittedMetadata("")))));
        return persist(() -> {
            TxnOffsetCommitResponseData answer = get(cluster.broker(cluster.ownerOf(InternalTopics.CONSUMER_OFFSETS, 0))
                    .groups()
                    .txnOffsetCommit(Contexts.of(ApiKeys.TXN_OFFSET_COMMIT, versionTwo ? 5 : 3), request));
            return Errors.forCode(answer.topics().get(0).partitions().get(0).errorCode());
        });
    }

    Errors end(boolean commit) {
        return persist(() -> endOnce(commit));
    }

    Errors endOnce(boolean commit) {
        EndTxnResponseData answer = get(coordinator()
                .endTxn(
                        Contexts.of(ApiKeys.END_TXN, versionTwo ? 5 : 4),
                        new EndTxnRequestData()
                                .setTransactionalId(id)
                                .setProducerId(producerId)
                                .setProducerEpoch(epoch)
                                .setCommitted(commit)));
        if (versionTwo && answer.errorCode() == Errors.NONE.code()) {
            producerId = answer.producerId();
            epoch = answer.producerEpoch();
        }
        return Errors.forCode(answer.errorCode());
    }

    /** How far the coordinator says the transaction is. */
    String status() {
        return TxnStates.of(coordinator(), id);
    }
}
