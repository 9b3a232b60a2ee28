package io.varve.serving.request.data;

import io.varve.serving.log.LogError;
import io.varve.serving.log.PartitionLog;
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
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.OffsetForLeaderTopicResult;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;

/** OffsetForLeaderEpoch: where an epoch ended, so that clients can find out whether what they have read is still so (table C3 of the user reports). */
public final class LeaderEpochHandler {

    private final BrokerServices broker;

    /** @param broker surroundings */
    public LeaderEpochHandler(BrokerServices broker) {
        this.broker = broker;
    }

    /** Handles one. */
    public CompletableFuture<Answer> handle(ClientRequest request) {
        OffsetForLeaderEpochRequestData data = request.data();
        List<CompletableFuture<OffsetForLeaderTopicResult>> topics = new ArrayList<>();
        for (OffsetForLeaderEpochRequestData.OffsetForLeaderTopic topic : data.topics()) {
            List<CompletableFuture<EpochEndOffset>> partitions = new ArrayList<>();
            for (OffsetForLeaderPartition partition : topic.partitions()) {
                CompletableFuture<EpochEndOffset> end = broker.finder()
                        .find(
                                TopicKey.of(topic.topic()),
                                partition.partition(),
                                broker.settings().takeoverWaitMs())
                        .thenCompose(found -> end(found, partition));
                partitions.add(broker.deadlines()
                        .within(
                                broker.settings().adminTimeoutMs(),
                                end,
                                () -> failed(partition, Errors.REQUEST_TIMED_OUT)));
            }
            topics.add(Futures.all(partitions)
                    .thenApply(ends -> new OffsetForLeaderTopicResult()
                            .setTopic(topic.topic())
                            .setPartitions(ends)));
        }
        return Futures.all(topics).thenApply(LeaderEpochHandler::answer);
    }

    private static Answer answer(List<OffsetForLeaderTopicResult> topics) {
        OffsetForLeaderEpochResponseData data = new OffsetForLeaderEpochResponseData();
        topics.forEach(data.topics()::mustAdd);
        return Answer.of(new OffsetsForLeaderEpochResponse(data));
    }

    private static CompletableFuture<EpochEndOffset> end(Found found, OffsetForLeaderPartition partition) {
        if (found.error() != Errors.NONE) {
            return CompletableFuture.completedFuture(failed(partition, found.error()));
        }
        PartitionLog log = found.log().orElseThrow();
        Errors epochs = Epochs.check(partition.currentLeaderEpoch(), log);
        if (epochs != Errors.NONE) {
            return CompletableFuture.completedFuture(failed(partition, epochs));
        }
        return log.endOffsetForEpoch(partition.leaderEpoch()).thenApply(end -> {
            if (end.error() != LogError.NONE) {
                return failed(partition, LogErrors.toKafka(end.error()));
            }
            return new EpochEndOffset()
                    .setPartition(partition.partition())
                    .setLeaderEpoch(end.epoch())
                    .setEndOffset(end.endOffset());
        });
    }

    private static EpochEndOffset failed(OffsetForLeaderPartition partition, Errors error) {
        return new EpochEndOffset()
                .setPartition(partition.partition())
                .setErrorCode(error.code())
                .setLeaderEpoch(-1)
                .setEndOffset(-1);
    }
}
