package io.varve.serving.request.data;

import io.varve.serving.log.PartitionLog;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.Futures;
import io.varve.serving.request.PartitionFinder.Found;
import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.DescribeProducersRequestData;
import org.apache.kafka.common.message.DescribeProducersResponseData;
import org.apache.kafka.common.message.DescribeProducersResponseData.PartitionResponse;
import org.apache.kafka.common.message.DescribeProducersResponseData.ProducerState;
import org.apache.kafka.common.message.DescribeProducersResponseData.TopicResponse;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.DescribeProducersResponse;

/** DescribeProducers: who wrote to a partition lately, and who has a transaction open there. */
public final class DescribeProducersHandler {

    private final BrokerServices broker;

    /** @param broker surroundings */
    public DescribeProducersHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        DescribeProducersRequestData data = request.data();
        List<CompletableFuture<TopicResponse>> topics = new ArrayList<>();
        for (DescribeProducersRequestData.TopicRequest topic : data.topics()) {
            List<CompletableFuture<PartitionResponse>> partitions = new ArrayList<>();
            for (int partition : topic.partitionIndexes()) {
                CompletableFuture<PartitionResponse> answer = broker.finder()
                        .find(
                                TopicKey.of(topic.name()),
                                partition,
                                broker.settings().takeoverWaitMs())
                        .thenCompose(found -> describe(found, partition));
                partitions.add(broker.deadlines()
                        .within(
                                broker.settings().adminTimeoutMs(),
                                answer,
                                () -> failed(partition, Errors.REQUEST_TIMED_OUT)));
            }
            topics.add(Futures.all(partitions)
                    .thenApply(all -> new TopicResponse().setName(topic.name()).setPartitions(all)));
        }
        return Futures.all(topics)
                .thenApply(all ->
                        Answer.of(new DescribeProducersResponse(new DescribeProducersResponseData().setTopics(all))));
    }

    private static CompletableFuture<PartitionResponse> describe(Found found, int partition) {
        if (found.error() != Errors.NONE) {
            return CompletableFuture.completedFuture(failed(partition, found.error()));
        }
        return found.log()
                .orElseThrow()
                .producers()
                .thenApply(producers -> new PartitionResponse()
                        .setPartitionIndex(partition)
                        .setActiveProducers(producers.stream()
                                .map(DescribeProducersHandler::stateOf)
                                .toList()));
    }

    private static ProducerState stateOf(PartitionLog.ProducerInfo producer) {
        return new ProducerState()
                .setProducerId(producer.producerId())
                .setProducerEpoch(producer.producerEpoch())
                .setLastSequence(producer.lastSequence())
                .setLastTimestamp(producer.lastTimestampMs())
                .setCoordinatorEpoch(producer.coordinatorEpoch())
                .setCurrentTxnStartOffset(producer.currentTxnStartOffset());
    }

    private static PartitionResponse failed(int partition, Errors error) {
        return new PartitionResponse()
                .setPartitionIndex(partition)
                .setErrorCode(error.code())
                .setErrorMessage(error.message());
    }
}
