package io.varve.serving.kafka.group;

import io.varve.metadata.api.MetadataClient;
import io.varve.serving.coordinator.GroupCoordinators;
import io.varve.serving.kafka.runtime.Answers;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.apache.kafka.common.message.AlterShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.AlterShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.ConsumerGroupDescribeRequestData;
import org.apache.kafka.common.message.ConsumerGroupDescribeResponseData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.message.DeleteGroupsRequestData;
import org.apache.kafka.common.message.DeleteGroupsResponseData;
import org.apache.kafka.common.message.DeleteGroupsResponseData.DeletableGroupResult;
import org.apache.kafka.common.message.DeleteGroupsResponseData.DeletableGroupResultCollection;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.DescribeGroupsRequestData;
import org.apache.kafka.common.message.DescribeGroupsResponseData;
import org.apache.kafka.common.message.DescribeGroupsResponseData.DescribedGroup;
import org.apache.kafka.common.message.DescribeShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.DescribeShareGroupOffsetsRequestData.DescribeShareGroupOffsetsRequestGroup;
import org.apache.kafka.common.message.DescribeShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.DescribeShareGroupOffsetsResponseData.DescribeShareGroupOffsetsResponseGroup;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.HeartbeatResponseData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.LeaveGroupResponseData;
import org.apache.kafka.common.message.ListGroupsRequestData;
import org.apache.kafka.common.message.ListGroupsResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitResponseData;
import org.apache.kafka.common.message.OffsetDeleteRequestData;
import org.apache.kafka.common.message.OffsetDeleteResponseData;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchResponseData;
import org.apache.kafka.common.message.ShareGroupDescribeRequestData;
import org.apache.kafka.common.message.ShareGroupDescribeResponseData;
import org.apache.kafka.common.message.ShareGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ShareGroupHeartbeatResponseData;
import org.apache.kafka.common.message.StreamsGroupDescribeRequestData;
import org.apache.kafka.common.message.StreamsGroupDescribeResponseData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatRequestData;
import org.apache.kafka.common.message.StreamsGroupHeartbeatResponseData;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupResponseData;
import org.apache.kafka.common.message.TxnOffsetCommitRequestData;
import org.apache.kafka.common.message.TxnOffsetCommitResponseData;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AlterShareGroupOffsetsRequest;
import org.apache.kafka.common.requests.ConsumerGroupDescribeRequest;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatRequest;
import org.apache.kafka.common.requests.DeleteShareGroupOffsetsRequest;
import org.apache.kafka.common.requests.JoinGroupRequest;
import org.apache.kafka.common.requests.JoinGroupResponse;
import org.apache.kafka.common.requests.LeaveGroupResponse;
import org.apache.kafka.common.requests.OffsetCommitRequest;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.ShareGroupDescribeRequest;
import org.apache.kafka.common.requests.ShareGroupHeartbeatRequest;
import org.apache.kafka.common.requests.StreamsGroupDescribeRequest;
import org.apache.kafka.common.requests.StreamsGroupHeartbeatRequest;
import org.apache.kafka.common.requests.SyncGroupRequest;
import org.apache.kafka.common.requests.TxnOffsetCommitRequest;
import org.apache.kafka.common.utils.internals.BufferSupplier;
import org.apache.kafka.coordinator.group.GroupCoordinator;

/** {@link GroupCoordinators} by Kafka's own coordinator. */
public final class KafkaGroups implements GroupCoordinators {

    private static final short LEAVE_BATCH_SINCE_VERSION = 3;
    private static final short TXN_COMMIT_KNOWS_LOADING_SINCE_VERSION = 2;

    private final Supplier<Optional<GroupCoordinator>> coordinator;
    private final OffsetRequests offsets;
    private final StreamsTopics streamsTopics;

    /** @param coordinator empty while there is none to ask */
    public KafkaGroups(Supplier<Optional<GroupCoordinator>> coordinator, MetadataClient metadata) {
        this.coordinator = coordinator;
        this.offsets = new OffsetRequests(metadata::view);
        this.streamsTopics = new StreamsTopics(metadata);
    }

    /** Asks the coordinator, and answers whatever fails by {@code onError}. */
    private <R> CompletableFuture<R> ask(
            Function<GroupCoordinator, CompletableFuture<R>> request, Function<Errors, R> onError) {
        Optional<GroupCoordinator> groups = coordinator.get();
        if (groups.isEmpty()) {
            return CompletableFuture.completedFuture(onError.apply(Errors.COORDINATOR_NOT_AVAILABLE));
        }
        try {
            return Answers.or(request.apply(groups.get()), onError);
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(onError.apply(Answers.errorOf(e)));
        }
    }

    /** The response by which {@code request} is refused. */
    private static <R extends ApiMessage> R refusal(AbstractRequest request, Errors error, Class<R> type) {
        return type.cast(request.getErrorResponse(0, error.exception()).data());
    }

    @Override
    public CompletableFuture<JoinGroupResponseData> joinGroup(RequestContext context, JoinGroupRequestData request) {
        short version = context.apiVersion();
        return ask(
                groups -> groups.joinGroup(context, request, BufferSupplier.NO_CACHING)
                        .thenApply(response -> new JoinGroupResponse(response, version).data()),
                error -> refusal(new JoinGroupRequest(request, version), error, JoinGroupResponseData.class));
    }

    @Override
    public CompletableFuture<SyncGroupResponseData> syncGroup(RequestContext context, SyncGroupRequestData request) {
        return ask(
                groups -> groups.syncGroup(context, request, BufferSupplier.NO_CACHING),
                error -> refusal(
                        new SyncGroupRequest(request, context.apiVersion()), error, SyncGroupResponseData.class));
    }

    @Override
    public CompletableFuture<HeartbeatResponseData> heartbeat(RequestContext context, HeartbeatRequestData request) {
        return ask(
                groups -> groups.heartbeat(context, request),
                error -> new HeartbeatResponseData().setErrorCode(error.code()));
    }

    @Override
    public CompletableFuture<LeaveGroupResponseData> leaveGroup(RequestContext context, LeaveGroupRequestData request) {
        short version = context.apiVersion();
        LeaveGroupRequestData batch = version >= LEAVE_BATCH_SINCE_VERSION
                ? request
                : new LeaveGroupRequestData()
                        .setGroupId(request.groupId())
                        .setMembers(List.of(new MemberIdentity().setMemberId(request.memberId())));
        return ask(
                groups -> groups.leaveGroup(context, batch)
                        .thenApply(response -> response.errorCode() != Errors.NONE.code()
                                ? response
                                : new LeaveGroupResponse(response, version).data()),
                error -> new LeaveGroupResponseData().setErrorCode(error.code()));
    }

    @Override
    public CompletableFuture<OffsetCommitResponseData> offsetCommit(
            RequestContext context, OffsetCommitRequestData request) {
        return ask(
                groups -> offsets.commit(groups, context, request),
                error -> OffsetCommitRequest.getErrorResponse(request, error));
    }

    @Override
    public CompletableFuture<OffsetFetchResponseData> offsetFetch(
            RequestContext context, OffsetFetchRequestData request) {
        return ask(
                groups -> offsets.fetch(groups, context, request),
                error -> OffsetRequests.fetchError(request, context.apiVersion(), error));
    }

    @Override
    public CompletableFuture<OffsetDeleteResponseData> offsetDelete(
            RequestContext context, OffsetDeleteRequestData request) {
        return ask(
                groups -> offsets.delete(groups, context, request),
                error -> new OffsetDeleteResponseData().setErrorCode(error.code()));
    }

    @Override
    public CompletableFuture<TxnOffsetCommitResponseData> txnOffsetCommit(
            RequestContext context, TxnOffsetCommitRequestData request) {
        return ask(
                        groups -> offsets.commitInTransaction(groups, context, request),
                        error -> TxnOffsetCommitRequest.getErrorResponse(request, error))
                .thenApply(response -> context.apiVersion() < TXN_COMMIT_KNOWS_LOADING_SINCE_VERSION
                        ? withoutLoading(response)
                        : response);
    }

    /** Producers before 2.0 stop for good when they are told that a coordinator is loading (KAFKA-7296). */
    private static TxnOffsetCommitResponseData withoutLoading(TxnOffsetCommitResponseData response) {
        response.topics()
                .forEach(topic -> topic.partitions().forEach(partition -> {
                    if (partition.errorCode() == Errors.COORDINATOR_LOAD_IN_PROGRESS.code()) {
                        partition.setErrorCode(Errors.COORDINATOR_NOT_AVAILABLE.code());
                    }
                }));
        return response;
    }

    @Override
    public CompletableFuture<DescribeGroupsResponseData> describeGroups(
            RequestContext context, DescribeGroupsRequestData request) {
        return ask(
                groups -> groups.describeGroups(context, request.groups())
                        .thenApply(described -> new DescribeGroupsResponseData().setGroups(described)),
                error -> {
                    DescribeGroupsResponseData response = new DescribeGroupsResponseData();
                    request.groups()
                            .forEach(group -> response.groups()
                                    .add(new DescribedGroup().setGroupId(group).setErrorCode(error.code())));
                    return response;
                });
    }

    @Override
    public CompletableFuture<ListGroupsResponseData> listGroups(RequestContext context, ListGroupsRequestData request) {
        if (coordinator.get().isEmpty()) {
            // The topic of the groups doesn't exist: this broker has none.
            return CompletableFuture.completedFuture(new ListGroupsResponseData());
        }
        return ask(
                groups -> groups.listGroups(context, request),
                error -> new ListGroupsResponseData().setErrorCode(error.code()));
    }

    @Override
    public CompletableFuture<DeleteGroupsResponseData> deleteGroups(
            RequestContext context, DeleteGroupsRequestData request) {
        return ask(
                groups -> groups.deleteGroups(context, request.groupsNames(), BufferSupplier.NO_CACHING)
                        .thenApply(results -> new DeleteGroupsResponseData().setResults(results)),
                error -> {
                    DeletableGroupResultCollection results = new DeletableGroupResultCollection();
                    request.groupsNames()
                            .forEach(group -> results.add(
                                    new DeletableGroupResult().setGroupId(group).setErrorCode(error.code())));
                    return new DeleteGroupsResponseData().setResults(results);
                });
    }

    @Override
    public CompletableFuture<ConsumerGroupHeartbeatResponseData> consumerGroupHeartbeat(
            RequestContext context, ConsumerGroupHeartbeatRequestData request) {
        return ask(
                groups -> groups.consumerGroupHeartbeat(context, request),
                error -> refusal(
                        new ConsumerGroupHeartbeatRequest(request, context.apiVersion()),
                        error,
                        ConsumerGroupHeartbeatResponseData.class));
    }

    @Override
    public CompletableFuture<ConsumerGroupDescribeResponseData> consumerGroupDescribe(
            RequestContext context, ConsumerGroupDescribeRequestData request) {
        return ask(
                groups -> groups.consumerGroupDescribe(context, request.groupIds())
                        .thenApply(described -> new ConsumerGroupDescribeResponseData().setGroups(described)),
                error -> refusal(
                        new ConsumerGroupDescribeRequest(request, context.apiVersion()),
                        error,
                        ConsumerGroupDescribeResponseData.class));
    }

    @Override
    public CompletableFuture<StreamsGroupHeartbeatResponseData> streamsGroupHeartbeat(
            RequestContext context, StreamsGroupHeartbeatRequestData request) {
        return ask(
                groups -> groups.streamsGroupHeartbeat(context, request).thenApply(result -> {
                    streamsTopics.create(result.creatableTopics());
                    return result.data();
                }),
                error -> refusal(
                        new StreamsGroupHeartbeatRequest(request, context.apiVersion()),
                        error,
                        StreamsGroupHeartbeatResponseData.class));
    }

    @Override
    public CompletableFuture<StreamsGroupDescribeResponseData> streamsGroupDescribe(
            RequestContext context, StreamsGroupDescribeRequestData request) {
        return ask(
                groups -> groups.streamsGroupDescribe(context, request.groupIds(), false)
                        .thenApply(described -> new StreamsGroupDescribeResponseData().setGroups(described)),
                error -> refusal(
                        new StreamsGroupDescribeRequest(request, context.apiVersion()),
                        error,
                        StreamsGroupDescribeResponseData.class));
    }

    @Override
    public CompletableFuture<ShareGroupHeartbeatResponseData> shareGroupHeartbeat(
            RequestContext context, ShareGroupHeartbeatRequestData request) {
        return ask(
                groups -> groups.shareGroupHeartbeat(context, request),
                error -> refusal(
                        new ShareGroupHeartbeatRequest(request, context.apiVersion()),
                        error,
                        ShareGroupHeartbeatResponseData.class));
    }

    @Override
    public CompletableFuture<ShareGroupDescribeResponseData> shareGroupDescribe(
            RequestContext context, ShareGroupDescribeRequestData request) {
        return ask(
                groups -> groups.shareGroupDescribe(context, request.groupIds())
                        .thenApply(described -> new ShareGroupDescribeResponseData().setGroups(described)),
                error -> refusal(
                        new ShareGroupDescribeRequest(request, context.apiVersion()),
                        error,
                        ShareGroupDescribeResponseData.class));
    }

    @Override
    public CompletableFuture<DescribeShareGroupOffsetsResponseData> describeShareGroupOffsets(
            RequestContext context, DescribeShareGroupOffsetsRequestData request) {
        List<CompletableFuture<DescribeShareGroupOffsetsResponseGroup>> described = new ArrayList<>();
        for (DescribeShareGroupOffsetsRequestGroup group : request.groups()) {
            described.add(ask(
                    groups -> group.topics() == null
                            ? groups.describeShareGroupAllOffsets(context, group)
                            : groups.describeShareGroupOffsets(context, group),
                    error -> new DescribeShareGroupOffsetsResponseGroup()
                            .setGroupId(group.groupId())
                            .setErrorCode(error.code())
                            .setErrorMessage(error.message())));
        }
        return Answers.all(described).thenApply(all -> new DescribeShareGroupOffsetsResponseData().setGroups(all));
    }

    @Override
    public CompletableFuture<AlterShareGroupOffsetsResponseData> alterShareGroupOffsets(
            RequestContext context, AlterShareGroupOffsetsRequestData request) {
        return ask(
                groups -> groups.alterShareGroupOffsets(context, request.groupId(), request),
                AlterShareGroupOffsetsRequest::getErrorResponseData);
    }

    @Override
    public CompletableFuture<DeleteShareGroupOffsetsResponseData> deleteShareGroupOffsets(
            RequestContext context, DeleteShareGroupOffsetsRequestData request) {
        return ask(
                groups -> groups.deleteShareGroupOffsets(context, request),
                error -> refusal(
                        new DeleteShareGroupOffsetsRequest(request, context.apiVersion()),
                        error,
                        DeleteShareGroupOffsetsResponseData.class));
    }
}
