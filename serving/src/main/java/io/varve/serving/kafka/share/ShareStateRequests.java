package io.varve.serving.kafka.share;

import io.varve.serving.kafka.share.ShareStateCalls.Call;
import java.util.List;
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
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.DeleteShareGroupStateRequest;
import org.apache.kafka.common.requests.InitializeShareGroupStateRequest;
import org.apache.kafka.common.requests.ReadShareGroupStateRequest;
import org.apache.kafka.common.requests.ReadShareGroupStateSummaryRequest;
import org.apache.kafka.common.requests.WriteShareGroupStateRequest;

/** The five requests to a share coordinator, each about one partition: how it is sent, what its answer's error is, and what a failed one looks like. */
final class ShareStateRequests {

    private ShareStateRequests() {}

    static Call<InitializeShareGroupStateResponseData> initialize(
            Uuid topic, int partition, InitializeShareGroupStateRequestData request) {
        return new Call<>(
                ApiKeys.INITIALIZE_SHARE_GROUP_STATE,
                () -> new InitializeShareGroupStateRequest.Builder(request),
                (coordinator, context) -> coordinator.initializeState(context, request),
                data -> Errors.forCode(data.results().get(0).partitions().get(0).errorCode()),
                error -> new InitializeShareGroupStateResponseData()
                        .setResults(List.of(new InitializeShareGroupStateResponseData.InitializeStateResult()
                                .setTopicId(topic)
                                .setPartitions(List.of(new InitializeShareGroupStateResponseData.PartitionResult()
                                        .setPartition(partition)
                                        .setErrorCode(error.code())
                                        .setErrorMessage(error.message()))))));
    }

    static ReadShareGroupStateRequestData readOf(String group, Uuid topic, int partition, int leaderEpoch) {
        return new ReadShareGroupStateRequestData()
                .setGroupId(group)
                .setTopics(List.of(new ReadShareGroupStateRequestData.ReadStateData()
                        .setTopicId(topic)
                        .setPartitions(List.of(new ReadShareGroupStateRequestData.PartitionData()
                                .setPartition(partition)
                                .setLeaderEpoch(leaderEpoch)))));
    }

    static Call<ReadShareGroupStateResponseData> read(
            Uuid topic, int partition, ReadShareGroupStateRequestData request) {
        return new Call<>(
                ApiKeys.READ_SHARE_GROUP_STATE,
                () -> new ReadShareGroupStateRequest.Builder(request),
                (coordinator, context) -> coordinator.readState(context, request),
                data -> Errors.forCode(data.results().get(0).partitions().get(0).errorCode()),
                error -> new ReadShareGroupStateResponseData()
                        .setResults(List.of(new ReadShareGroupStateResponseData.ReadStateResult()
                                .setTopicId(topic)
                                .setPartitions(List.of(new ReadShareGroupStateResponseData.PartitionResult()
                                        .setPartition(partition)
                                        .setErrorCode(error.code())
                                        .setErrorMessage(error.message()))))));
    }

    static WriteShareGroupStateRequestData writeOf(
            String group, Uuid topic, WriteShareGroupStateRequestData.PartitionData partition) {
        return new WriteShareGroupStateRequestData()
                .setGroupId(group)
                .setTopics(List.of(new WriteShareGroupStateRequestData.WriteStateData()
                        .setTopicId(topic)
                        .setPartitions(List.of(partition))));
    }

    static Call<WriteShareGroupStateResponseData> write(
            Uuid topic, int partition, WriteShareGroupStateRequestData request) {
        return new Call<>(
                ApiKeys.WRITE_SHARE_GROUP_STATE,
                () -> new WriteShareGroupStateRequest.Builder(request),
                (coordinator, context) -> coordinator.writeState(context, request),
                data -> Errors.forCode(data.results().get(0).partitions().get(0).errorCode()),
                error -> new WriteShareGroupStateResponseData()
                        .setResults(List.of(new WriteShareGroupStateResponseData.WriteStateResult()
                                .setTopicId(topic)
                                .setPartitions(List.of(new WriteShareGroupStateResponseData.PartitionResult()
                                        .setPartition(partition)
                                        .setErrorCode(error.code())
                                        .setErrorMessage(error.message()))))));
    }

    static Call<DeleteShareGroupStateResponseData> delete(
            Uuid topic, int partition, DeleteShareGroupStateRequestData request) {
        return new Call<>(
                ApiKeys.DELETE_SHARE_GROUP_STATE,
                () -> new DeleteShareGroupStateRequest.Builder(request),
                (coordinator, context) -> coordinator.deleteState(context, request),
                data -> Errors.forCode(data.results().get(0).partitions().get(0).errorCode()),
                error -> new DeleteShareGroupStateResponseData()
                        .setResults(List.of(new DeleteShareGroupStateResponseData.DeleteStateResult()
                                .setTopicId(topic)
                                .setPartitions(List.of(new DeleteShareGroupStateResponseData.PartitionResult()
                                        .setPartition(partition)
                                        .setErrorCode(error.code())
                                        .setErrorMessage(error.message()))))));
    }

    static Call<ReadShareGroupStateSummaryResponseData> summary(
            Uuid topic, int partition, ReadShareGroupStateSummaryRequestData request) {
        return new Call<>(
                ApiKeys.READ_SHARE_GROUP_STATE_SUMMARY,
                () -> new ReadShareGroupStateSummaryRequest.Builder(request),
                (coordinator, context) -> coordinator.readStateSummary(context, request),
                data -> Errors.forCode(data.results().get(0).partitions().get(0).errorCode()),
                error -> new ReadShareGroupStateSummaryResponseData()
                        .setResults(List.of(new ReadShareGroupStateSummaryResponseData.ReadStateSummaryResult()
                                .setTopicId(topic)
                                .setPartitions(List.of(new ReadShareGroupStateSummaryResponseData.PartitionResult()
                                        .setPartition(partition)
                                        .setErrorCode(error.code())
                                        .setErrorMessage(error.message()))))));
    }
}
