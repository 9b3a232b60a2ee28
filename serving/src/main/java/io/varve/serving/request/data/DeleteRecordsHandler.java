package io.varve.serving.request.data;

import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigs;
import io.varve.serving.log.LogError;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.LogErrors;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.DeleteRecordsRequestData;
import org.apache.kafka.common.message.DeleteRecordsRequestData.DeleteRecordsPartition;
import org.apache.kafka.common.message.DeleteRecordsResponseData;
import org.apache.kafka.common.message.DeleteRecordsResponseData.DeleteRecordsPartitionResult;
import org.apache.kafka.common.message.DeleteRecordsResponseData.DeleteRecordsTopicResult;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.DeleteRecordsResponse;

/** DeleteRecords: moves the start of logs up (P30 of the user reports). Answered once the move is durable. */
public final class DeleteRecordsHandler {

    private final BrokerServices broker;

    /** @param broker surroundings */
    public DeleteRecordsHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        DeleteRecordsRequestData data = request.data();
        long waitMs = Math.min(data.timeoutMs(), broker.settings().adminTimeoutMs());
        List<CompletableFuture<DeleteRecordsTopicResult>> topics = new ArrayList<>();
        for (DeleteRecordsRequestData.DeleteRecordsTopic topic : data.topics()) {
            List<CompletableFuture<DeleteRecordsPartitionResult>> partitions = new ArrayList<>();
            for (DeleteRecordsPartition partition : topic.partitions()) {
                CompletableFuture<DeleteRecordsPartitionResult> result = broker.finder()
                        .find(
                                TopicKey.of(topic.name()),
                                partition.partitionIndex(),
                                Math.min(waitMs, broker.settings().takeoverWaitMs()))
                        .thenCompose(found -> delete(found, partition));
                partitions.add(
                        broker.deadlines().within(waitMs, result, () -> failed(partition, Errors.REQUEST_TIMED_OUT)));
            }
            topics.add(Futures.all(partitions).thenApply(results -> topicOf(topic.name(), results)));
        }
        return Futures.all(topics).thenApply(DeleteRecordsHandler::answer);
    }

    private CompletableFuture<DeleteRecordsPartitionResult> delete(Found found, DeleteRecordsPartition partition) {
        if (found.error() != Errors.NONE) {
            return CompletableFuture.completedFuture(failed(partition, found.error()));
        }
        Topic topic = found.topic().orElseThrow();
        if (InternalTopics.isInternal(topic.name())) {
            return CompletableFuture.completedFuture(failed(partition, Errors.INVALID_TOPIC_EXCEPTION));
        }
        if (!TopicConfigs.of(topic, broker.view().clusterConfigs()).deletedByRetention()) {
            return CompletableFuture.completedFuture(failed(partition, Errors.POLICY_VIOLATION));
        }
        return found.log()
                .orElseThrow()
                .deleteRecords(partition.offset())
                .thenApply(result -> result.error() == LogError.NONE
                        ? new DeleteRecordsPartitionResult()
                                .setPartitionIndex(partition.partitionIndex())
                                .setLowWatermark(result.logStart())
                        : failed(partition, LogErrors.toKafka(result.error())));
    }

    private static DeleteRecordsPartitionResult failed(DeleteRecordsPartition partition, Errors error) {
        return new DeleteRecordsPartitionResult()
                .setPartitionIndex(partition.partitionIndex())
                .setErrorCode(error.code())
                .setLowWatermark(-1);
    }

    private static DeleteRecordsTopicResult topicOf(String name, List<DeleteRecordsPartitionResult> results) {
        DeleteRecordsTopicResult topic = new DeleteRecordsTopicResult().setName(name);
        results.forEach(topic.partitions()::mustAdd);
        return topic;
    }

    private static Answer answer(List<DeleteRecordsTopicResult> topics) {
        DeleteRecordsResponseData data = new DeleteRecordsResponseData();
        topics.forEach(data.topics()::mustAdd);
        return Answer.of(new DeleteRecordsResponse(data));
    }
}
