package io.varve.serving.kafka.share;

import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.kafka.share.ShareStateCalls.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.DeleteShareGroupStateRequestData;
import org.apache.kafka.common.message.DeleteShareGroupStateResponseData;
import org.apache.kafka.common.message.InitializeShareGroupStateRequestData;
import org.apache.kafka.common.message.InitializeShareGroupStateResponseData;
import org.apache.kafka.common.message.ReadShareGroupStateRequestData;
import org.apache.kafka.common.message.ReadShareGroupStateResponseData;
import org.apache.kafka.common.message.ReadShareGroupStateSummaryRequestData;
import org.apache.kafka.common.message.ReadShareGroupStateSummaryResponseData;
import org.apache.kafka.common.message.WriteShareGroupStateRequestData;
import org.apache.kafka.common.message.WriteShareGroupStateResponseData;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.DeleteShareGroupStateResult;
import org.apache.kafka.server.share.persister.GroupTopicPartitionData;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateParameters;
import org.apache.kafka.server.share.persister.InitializeShareGroupStateResult;
import org.apache.kafka.server.share.persister.PartitionIdData;
import org.apache.kafka.server.share.persister.PartitionIdLeaderEpochData;
import org.apache.kafka.server.share.persister.PartitionInfoData;
import org.apache.kafka.server.share.persister.PartitionStateBatchData;
import org.apache.kafka.server.share.persister.PartitionStateData;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.share.persister.ReadShareGroupStateParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateResult;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryParameters;
import org.apache.kafka.server.share.persister.ReadShareGroupStateSummaryResult;
import org.apache.kafka.server.share.persister.TopicData;
import org.apache.kafka.server.share.persister.WriteShareGroupStateParameters;
import org.apache.kafka.server.share.persister.WriteShareGroupStateResult;

/** What the coordinator of share groups asks of the share coordinators: each partition at its own. Safe for any thread. */
final class SharePersister implements Persister {

    private final ShareStateCalls calls;

    SharePersister(ShareStateCalls calls) {
        this.calls = calls;
    }

    /** One question about one partition. */
    @FunctionalInterface
    private interface Question<P, D> {
        CompletableFuture<D> ask(String group, Uuid topic, P partition);
    }

    private static <P extends PartitionInfoData, D> CompletableFuture<List<D>> each(
            GroupTopicPartitionData<P> all, Question<P, D> question) {
        List<CompletableFuture<D>> answers = new ArrayList<>();
        for (TopicData<P> topic : all.topicsData()) {
            for (P partition : topic.partitions()) {
                answers.add(question.ask(all.groupId(), topic.topicId(), partition));
            }
        }
        return Answers.all(answers);
    }

    private static <D, R> List<R> joined(List<D> answers, Function<D, List<R>> results) {
        return answers.stream()
                .flatMap(answer -> results.apply(answer).stream())
                .toList();
    }

    @Override
    public CompletableFuture<InitializeShareGroupStateResult> initializeState(
            InitializeShareGroupStateParameters parameters) {
        return each(parameters.groupTopicPartitionData(), this::initialize)
                .thenApply(all -> InitializeShareGroupStateResult.from(new InitializeShareGroupStateResponseData()
                        .setResults(joined(all, InitializeShareGroupStateResponseData::results))));
    }

    private CompletableFuture<InitializeShareGroupStateResponseData> initialize(
            String group, Uuid topic, PartitionStateData partition) {
        InitializeShareGroupStateRequestData request = new InitializeShareGroupStateRequestData()
                .setGroupId(group)
                .setTopics(List.of(new InitializeShareGroupStateRequestData.InitializeStateData()
                        .setTopicId(topic)
                        .setPartitions(List.of(new InitializeShareGroupStateRequestData.PartitionData()
                                .setPartition(partition.partition())
                                .setStateEpoch(partition.stateEpoch())
                                .setStartOffset(partition.startOffset())))));
        return ask(group, topic, partition, ShareStateRequests.initialize(topic, partition.partition(), request));
    }

    @Override
    public CompletableFuture<ReadShareGroupStateResult> readState(ReadShareGroupStateParameters parameters) {
        return each(parameters.groupTopicPartitionData(), this::read)
                .thenApply(all -> ReadShareGroupStateResult.from(new ReadShareGroupStateResponseData()
                        .setResults(joined(all, ReadShareGroupStateResponseData::results))));
    }

    private CompletableFuture<ReadShareGroupStateResponseData> read(
            String group, Uuid topic, PartitionIdLeaderEpochData partition) {
        ReadShareGroupStateRequestData request =
                ShareStateRequests.readOf(group, topic, partition.partition(), partition.leaderEpoch());
        return ask(group, topic, partition, ShareStateRequests.read(topic, partition.partition(), request));
    }

    @Override
    public CompletableFuture<WriteShareGroupStateResult> writeState(WriteShareGroupStateParameters parameters) {
        return each(parameters.groupTopicPartitionData(), this::write)
                .thenApply(all -> WriteShareGroupStateResult.from(new WriteShareGroupStateResponseData()
                        .setResults(joined(all, WriteShareGroupStateResponseData::results))));
    }

    private CompletableFuture<WriteShareGroupStateResponseData> write(
            String group, Uuid topic, PartitionStateBatchData partition) {
        WriteShareGroupStateRequestData request = ShareStateRequests.writeOf(
                group,
                topic,
                new WriteShareGroupStateRequestData.PartitionData()
                        .setPartition(partition.partition())
                        .setLeaderEpoch(partition.leaderEpoch())
                        .setStateEpoch(partition.stateEpoch())
                        .setStartOffset(partition.startOffset())
                        .setDeliveryCompleteCount(partition.deliveryCompleteCount())
                        .setStateBatches(partition.stateBatches().stream()
                                .map(batch -> new WriteShareGroupStateRequestData.StateBatch()
                                        .setFirstOffset(batch.firstOffset())
                                        .setLastOffset(batch.lastOffset())
                                        .setDeliveryState(batch.deliveryState())
                                        .setDeliveryCount(batch.deliveryCount()))
                                .toList()));
        return ask(group, topic, partition, ShareStateRequests.write(topic, partition.partition(), request));
    }

    @Override
    public CompletableFuture<DeleteShareGroupStateResult> deleteState(DeleteShareGroupStateParameters parameters) {
        return each(parameters.groupTopicPartitionData(), this::delete)
                .thenApply(all -> DeleteShareGroupStateResult.from(new DeleteShareGroupStateResponseData()
                        .setResults(joined(all, DeleteShareGroupStateResponseData::results))));
    }

    private CompletableFuture<DeleteShareGroupStateResponseData> delete(
            String group, Uuid topic, PartitionIdData partition) {
        DeleteShareGroupStateRequestData request = new DeleteShareGroupStateRequestData()
                .setGroupId(group)
                .setTopics(List.of(new DeleteShareGroupStateRequestData.DeleteStateData()
                        .setTopicId(topic)
                        .setPartitions(List.of(new DeleteShareGroupStateRequestData.PartitionData()
                                .setPartition(partition.partition())))));
        return ask(group, topic, partition, ShareStateRequests.delete(topic, partition.partition(), request));
    }

    @Override
    public CompletableFuture<ReadShareGroupStateSummaryResult> readSummary(
            ReadShareGroupStateSummaryParameters parameters) {
        return each(parameters.groupTopicPartitionData(), this::summary)
                .thenApply(all -> ReadShareGroupStateSummaryResult.from(new ReadShareGroupStateSummaryResponseData()
                        .setResults(joined(all, ReadShareGroupStateSummaryResponseData::results))));
    }

    private CompletableFuture<ReadShareGroupStateSummaryResponseData> summary(
            String group, Uuid topic, PartitionIdLeaderEpochData partition) {
        ReadShareGroupStateSummaryRequestData request = new ReadShareGroupStateSummaryRequestData()
                .setGroupId(group)
                .setTopics(List.of(new ReadShareGroupStateSummaryRequestData.ReadStateSummaryData()
                        .setTopicId(topic)
                        .setPartitions(List.of(new ReadShareGroupStateSummaryRequestData.PartitionData()
                                .setPartition(partition.partition())
                                .setLeaderEpoch(partition.leaderEpoch())))));
        return ask(group, topic, partition, ShareStateRequests.summary(topic, partition.partition(), request));
    }

    private <D extends org.apache.kafka.common.protocol.ApiMessage> CompletableFuture<D> ask(
            String group, Uuid topic, PartitionIdData partition, Call<D> call) {
        return calls.ask(group, topic, partition.partition(), call);
    }

    @Override
    public void stop() {}
}
