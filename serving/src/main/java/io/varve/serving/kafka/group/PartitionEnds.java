package io.varve.serving.kafka.group;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.log.PartitionLogs;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.ListOffsetsRequestData.ListOffsetsPartition;
import org.apache.kafka.common.message.ListOffsetsRequestData.ListOffsetsTopic;
import org.apache.kafka.common.message.ListOffsetsResponseData.ListOffsetsPartitionResponse;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.ListOffsetsRequest;
import org.apache.kafka.common.requests.ListOffsetsResponse;
import org.apache.kafka.server.util.PartitionMetadataClient;

/** Where partitions end, asked of their owners, here or at other brokers: what the lag of a share group is counted from. Safe for any thread. */
public final class PartitionEnds implements PartitionMetadataClient {

    private static final long UNKNOWN = -1;

    private final Supplier<MetadataView> view;
    private final int brokerId;
    private final PartitionLogs logs;
    private final BrokerClient brokers;

    /** @param brokers to reach other brokers with; not closed here */
    public PartitionEnds(Supplier<MetadataView> view, int brokerId, PartitionLogs logs, BrokerClient brokers) {
        this.view = view;
        this.brokerId = brokerId;
        this.logs = logs;
        this.brokers = brokers;
    }

    @Override
    public Map<TopicPartition, CompletableFuture<OffsetResponse>> listLatestOffsets(Set<TopicPartition> partitions) {
        Map<TopicPartition, CompletableFuture<OffsetResponse>> answers = new LinkedHashMap<>();
        partitions.forEach(partition -> answers.put(partition, endOf(partition)));
        return answers;
    }

    private CompletableFuture<OffsetResponse> endOf(TopicPartition partition) {
        Optional<PartitionState> state = view.get()
                .topic(partition.topic())
                .flatMap(topic -> view.get().partition(new PartitionId(topic.id(), partition.partition())));
        if (state.isEmpty()) {
            return failed(Errors.UNKNOWN_TOPIC_OR_PARTITION);
        }
        int owner = state.get().owner();
        if (owner == PartitionState.NO_OWNER) {
            return failed(Errors.LEADER_NOT_AVAILABLE);
        }
        return owner == brokerId ? here(state.get().id()) : at(owner, partition);
    }

    private CompletableFuture<OffsetResponse> here(PartitionId id) {
        return logs.find(id) instanceof PartitionLogs.Lookup.Served served
                ? CompletableFuture.completedFuture(
                        new OffsetResponse(served.log().offsets().highWatermark(), Errors.NONE))
                : failed(Errors.NOT_LEADER_OR_FOLLOWER);
    }

    private CompletableFuture<OffsetResponse> at(int owner, TopicPartition partition) {
        ListOffsetsTopic topic = new ListOffsetsTopic()
                .setName(partition.topic())
                .setPartitions(List.of(new ListOffsetsPartition()
                        .setPartitionIndex(partition.partition())
                        .setTimestamp(ListOffsetsRequest.LATEST_TIMESTAMP)));
        return brokers.send(
                        owner,
                        ListOffsetsRequest.Builder.forConsumer(true, IsolationLevel.READ_UNCOMMITTED)
                                .setTargetTimes(List.of(topic)))
                .handle((response, failed) -> failed == null
                        ? answerIn((ListOffsetsResponse) response)
                        : new OffsetResponse(UNKNOWN, Errors.NETWORK_EXCEPTION));
    }

    private static OffsetResponse answerIn(ListOffsetsResponse response) {
        ListOffsetsPartitionResponse answer =
                response.topics().get(0).partitions().get(0);
        return new OffsetResponse(answer.offset(), Errors.forCode(answer.errorCode()));
    }

    private static CompletableFuture<OffsetResponse> failed(Errors error) {
        return CompletableFuture.completedFuture(new OffsetResponse(UNKNOWN, error));
    }

    @Override
    public void close() {}
}
