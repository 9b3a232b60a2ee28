package io.varve.serving.coordinator;

import java.util.concurrent.CompletableFuture;
import org.apache.kafka.common.message.AlterShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.AlterShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.ConsumerGroupDescribeRequestData;
import org.apache.kafka.common.message.ConsumerGroupDescribeResponseData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatRequestData;
import org.apache.kafka.common.message.ConsumerGroupHeartbeatResponseData;
import org.apache.kafka.common.message.DeleteGroupsRequestData;
import org.apache.kafka.common.message.DeleteGroupsResponseData;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.DeleteShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.DescribeGroupsRequestData;
import org.apache.kafka.common.message.DescribeGroupsResponseData;
import org.apache.kafka.common.message.DescribeShareGroupOffsetsRequestData;
import org.apache.kafka.common.message.DescribeShareGroupOffsetsResponseData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.HeartbeatResponseData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
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
import org.apache.kafka.common.requests.RequestContext;

/**
 * The coordinators of groups: one method for each API of Kafka's protocol, request in, response out, in the form of the version that
 * {@code context} names. Safe for any thread; nothing blocks. Futures never fail: trouble is an error code in the response.
 */
public interface GroupCoordinators {

    /** Join of a classic group. Answered when the rebalance completes, which may take its time-out. */
    CompletableFuture<JoinGroupResponseData> joinGroup(RequestContext context, JoinGroupRequestData request);

    /** Assignment of a classic group: answered when the leader has sent it. */
    CompletableFuture<SyncGroupResponseData> syncGroup(RequestContext context, SyncGroupRequestData request);

    /** Heartbeat of a classic member. */
    CompletableFuture<HeartbeatResponseData> heartbeat(RequestContext context, HeartbeatRequestData request);

    /** Leaves a classic group; batches from version 3 on. */
    CompletableFuture<LeaveGroupResponseData> leaveGroup(RequestContext context, LeaveGroupRequestData request);

    /** Commits offsets; topic ids from version 10 on. */
    CompletableFuture<OffsetCommitResponseData> offsetCommit(RequestContext context, OffsetCommitRequestData request);

    /** Reads committed offsets; several groups from version 8 on, topic ids from version 10 on. */
    CompletableFuture<OffsetFetchResponseData> offsetFetch(RequestContext context, OffsetFetchRequestData request);

    /** Deletes committed offsets of topics that nobody in the group is subscribed to. */
    CompletableFuture<OffsetDeleteResponseData> offsetDelete(RequestContext context, OffsetDeleteRequestData request);

    /** Describes classic groups. */
    CompletableFuture<DescribeGroupsResponseData> describeGroups(
            RequestContext context, DescribeGroupsRequestData request);

    /** Lists the groups of all coordinators of this broker, of all types. */
    CompletableFuture<ListGroupsResponseData> listGroups(RequestContext context, ListGroupsRequestData request);

    /** Deletes empty groups. */
    CompletableFuture<DeleteGroupsResponseData> deleteGroups(RequestContext context, DeleteGroupsRequestData request);

    /** Join, heartbeat and leave of a consumer group (KIP-848). */
    CompletableFuture<ConsumerGroupHeartbeatResponseData> consumerGroupHeartbeat(
            RequestContext context, ConsumerGroupHeartbeatRequestData request);

    /** Describes consumer groups (KIP-848). */
    CompletableFuture<ConsumerGroupDescribeResponseData> consumerGroupDescribe(
            RequestContext context, ConsumerGroupDescribeRequestData request);

    /** Join, heartbeat and leave of a streams group (KIP-1071). Creates the internal topics that the topology needs. */
    CompletableFuture<StreamsGroupHeartbeatResponseData> streamsGroupHeartbeat(
            RequestContext context, StreamsGroupHeartbeatRequestData request);

    /** Describes streams groups. */
    CompletableFuture<StreamsGroupDescribeResponseData> streamsGroupDescribe(
            RequestContext context, StreamsGroupDescribeRequestData request);

    /** Join, heartbeat and leave of a share group (KIP-932). */
    CompletableFuture<ShareGroupHeartbeatResponseData> shareGroupHeartbeat(
            RequestContext context, ShareGroupHeartbeatRequestData request);

    /** Describes share groups. */
    CompletableFuture<ShareGroupDescribeResponseData> shareGroupDescribe(
            RequestContext context, ShareGroupDescribeRequestData request);

    /** Where share groups stand. */
    CompletableFuture<DescribeShareGroupOffsetsResponseData> describeShareGroupOffsets(
            RequestContext context, DescribeShareGroupOffsetsRequestData request);

    /** Moves a share group. */
    CompletableFuture<AlterShareGroupOffsetsResponseData> alterShareGroupOffsets(
            RequestContext context, AlterShareGroupOffsetsRequestData request);

    /** Forgets where a share group stands. */
    CompletableFuture<DeleteShareGroupOffsetsResponseData> deleteShareGroupOffsets(
            RequestContext context, DeleteShareGroupOffsetsRequestData request);

    /** Commits offsets inside a transaction: visible once its marker is written. */
    CompletableFuture<TxnOffsetCommitResponseData> txnOffsetCommit(
            RequestContext context, TxnOffsetCommitRequestData request);
}
