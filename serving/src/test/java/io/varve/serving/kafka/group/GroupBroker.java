package io.varve.serving.kafka.group;

import static io.varve.serving.kafka.Eventually.get;

import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.protocol.runtime.SystemClock;
import io.varve.serving.kafka.Contexts;
import io.varve.serving.kafka.Eventually;
import io.varve.serving.kafka.FakeMetadata;
import io.varve.serving.kafka.metadata.MetadataFeed;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.log.InMemoryPartitionLogs;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.clients.consumer.ConsumerPartitionAssignor;
import org.apache.kafka.clients.consumer.internals.ConsumerProtocol;
import org.apache.kafka.common.errors.DisconnectException;
import org.apache.kafka.common.message.DeleteGroupsRequestData;
import org.apache.kafka.common.message.HeartbeatRequestData;
import org.apache.kafka.common.message.JoinGroupRequestData;
import org.apache.kafka.common.message.JoinGroupResponseData;
import org.apache.kafka.common.message.LeaveGroupRequestData;
import org.apache.kafka.common.message.LeaveGroupRequestData.MemberIdentity;
import org.apache.kafka.common.message.ListGroupsRequestData;
import org.apache.kafka.common.message.ListGroupsResponseData;
import org.apache.kafka.common.message.OffsetCommitRequestData;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestPartition;
import org.apache.kafka.common.message.OffsetCommitRequestData.OffsetCommitRequestTopic;
import org.apache.kafka.common.message.OffsetFetchRequestData;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestGroup;
import org.apache.kafka.common.message.OffsetFetchRequestData.OffsetFetchRequestTopics;
import org.apache.kafka.common.message.OffsetFetchResponseData.OffsetFetchResponseGroup;
import org.apache.kafka.common.message.SyncGroupRequestData;
import org.apache.kafka.common.message.SyncGroupRequestData.SyncGroupRequestAssignment;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.utils.Utils;

/** A broker's group coordinator over in-memory logs, and what clients would ask of it. */
final class GroupBroker implements AutoCloseable {

    private static final Map<String, String> QUICK =
            Map.of("group.initial.rebalance.delay.ms", "0", "offsets.commit.timeout.ms", "10000");

    final InMemoryPartitionLogs logs;
    final KafkaGroups groups;
    final GroupHost host;

    private final FakeMetadata metadata;
    private final MetadataFeed feed;
    private final ScheduledExecutorService loadThreads = Executors.newScheduledThreadPool(2);

    GroupBroker(int id, FakeMetadata metadata, InMemoryPartitionLogs logs) {
        this(id, metadata, logs, SystemClock.INSTANCE, Map.of());
    }

    /** @param more settings of Kafka's coordinator */
    GroupBroker(int id, FakeMetadata metadata, InMemoryPartitionLogs logs, Clock clock, Map<String, String> more) {
        this.metadata = metadata;
        this.logs = logs;
        Map<String, String> settings = new TreeMap<>(QUICK);
        settings.putAll(more);
        CoordinatorOptions options = new CoordinatorOptions(id, settings, 1, 1, 1, 1 << 20);
        host = new GroupHost(
                options,
                new GroupConfigFeed(GroupHost.settings(options)),
                logs,
                new PartitionEnds(metadata::view, id, logs, new NoBrokers()),
                (partition, transactionalId, producerId, epoch, verification) ->
                        CompletableFuture.completedFuture(Errors.NONE),
                loadThreads,
                clock);
        feed = new MetadataFeed(metadata.client(), List.of(host), (where, fault) -> {
            throw new AssertionError(where, fault);
        });
        groups = new KafkaGroups(host::coordinator, metadata.client());
        Eventually.until(host::coordinator, c -> c.isPresent());
    }

    /** Nobody else is there. */
    private static final class NoBrokers implements BrokerClient {
        @Override
        public CompletableFuture<AbstractResponse> send(
                int broker, AbstractRequest.Builder<? extends AbstractRequest> request) {
            return CompletableFuture.failedFuture(new DisconnectException("broker " + broker + " is not there"));
        }

        @Override
        public void close() {}
    }

    /** The one partition of the groups' topic. */
    static PartitionId partition(FakeMetadata metadata) {
        return new PartitionId(
                metadata.view()
                        .topic(InternalTopics.CONSUMER_OFFSETS)
                        .map(Topic::id)
                        .orElseThrow(),
                0);
    }

    /** Waits until {@code group} has a coordinator here that has loaded. */
    void awaitActive(String group) {
        Eventually.until(
                () -> committed(group),
                answer -> !answer.equals("NOT_COORDINATOR")
                        && !answer.equals("COORDINATOR_LOAD_IN_PROGRESS")
                        && !answer.equals("COORDINATOR_NOT_AVAILABLE"));
    }

    /** A stable group of one member. */
    JoinGroupResponseData joinAndSync(String group) {
        String member = get(groups.joinGroup(Contexts.of(ApiKeys.JOIN_GROUP), join(group, "")))
                .memberId();
        JoinGroupResponseData joined = get(groups.joinGroup(Contexts.of(ApiKeys.JOIN_GROUP), join(group, member)));
        sync(group, joined, List.of(member));
        return joined;
    }

    /** A stable group of so many members, all of the first generation: they must come within the initial delay. */
    List<JoinGroupResponseData> joinAndSync(String group, int count) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            ids.add(get(groups.joinGroup(Contexts.of(ApiKeys.JOIN_GROUP), join(group, "")))
                    .memberId());
        }
        List<CompletableFuture<JoinGroupResponseData>> joining = ids.stream()
                .map(id -> groups.joinGroup(Contexts.of(ApiKeys.JOIN_GROUP), join(group, id)))
                .toList();
        List<JoinGroupResponseData> joined =
                joining.stream().map(Eventually::get).toList();
        for (JoinGroupResponseData member : joined) {
            if (member.memberId().equals(member.leader())) {
                sync(group, member, ids);
            }
        }
        joined.forEach(member -> sync(group, member, List.of()));
        return joined;
    }

    private void sync(String group, JoinGroupResponseData member, List<String> assigned) {
        byte[] nothing = Utils.toArray(
                ConsumerProtocol.serializeAssignment(new ConsumerPartitionAssignor.Assignment(List.of())));
        SyncGroupRequestData sync = new SyncGroupRequestData()
                .setGroupId(group)
                .setMemberId(member.memberId())
                .setGenerationId(member.generationId())
                .setProtocolType("consumer")
                .setProtocolName("range")
                .setAssignments(assigned.stream()
                        .map(id ->
                                new SyncGroupRequestAssignment().setMemberId(id).setAssignment(nothing))
                        .toList());
        Errors error = Errors.forCode(
                get(groups.syncGroup(Contexts.of(ApiKeys.SYNC_GROUP), sync)).errorCode());
        if (error != Errors.NONE) {
            throw new AssertionError(error);
        }
    }

    /** The ids of all groups. */
    List<String> listed() {
        return get(groups.listGroups(Contexts.of(ApiKeys.LIST_GROUPS), new ListGroupsRequestData())).groups().stream()
                .map(ListGroupsResponseData.ListedGroup::groupId)
                .toList();
    }

    Errors delete(String group) {
        return Errors.forCode(get(groups.deleteGroups(
                        Contexts.of(ApiKeys.DELETE_GROUPS),
                        new DeleteGroupsRequestData().setGroupsNames(List.of(group))))
                .results()
                .find(group)
                .errorCode());
    }

    private static JoinGroupRequestData join(String group, String member) {
        JoinGroupRequestData.JoinGroupRequestProtocolCollection protocols =
                new JoinGroupRequestData.JoinGroupRequestProtocolCollection();
        protocols.add(new JoinGroupRequestData.JoinGroupRequestProtocol()
                .setName("range")
                .setMetadata(Utils.toArray(ConsumerProtocol.serializeSubscription(
                        new ConsumerPartitionAssignor.Subscription(List.of("t"))))));
        return new JoinGroupRequestData()
                .setGroupId(group)
                .setMemberId(member)
                .setProtocolType("consumer")
                .setProtocols(protocols)
                .setSessionTimeoutMs(30_000)
                .setRebalanceTimeoutMs(30_000);
    }

    Errors heartbeat(String group, JoinGroupResponseData member) {
        return Errors.forCode(get(groups.heartbeat(
                        Contexts.of(ApiKeys.HEARTBEAT),
                        new HeartbeatRequestData()
                                .setGroupId(group)
                                .setMemberId(member.memberId())
                                .setGenerationId(member.generationId())))
                .errorCode());
    }

    Errors leave(String group, JoinGroupResponseData member) {
        return Errors.forCode(get(groups.leaveGroup(
                        Contexts.of(ApiKeys.LEAVE_GROUP, 5),
                        new LeaveGroupRequestData()
                                .setGroupId(group)
                                .setMembers(List.of(new MemberIdentity().setMemberId(member.memberId())))))
                .errorCode());
    }

    /** Commits for partition 0 of topic t, by nobody in particular. */
    CompletableFuture<Errors> commit(String group, long offset) {
        return commit(group, "", -1, offset);
    }

    CompletableFuture<Errors> commit(String group, String member, int generation, long offset) {
        return commit(9, group, member, generation, offset);
    }

    /** By a request of that version; up to 4 it says itself how long the offset is kept: as the server has it. */
    CompletableFuture<Errors> commit(int version, String group, String member, int generation, long offset) {
        OffsetCommitRequestData request = new OffsetCommitRequestData()
                .setGroupId(group)
                .setMemberId(member)
                .setGenerationIdOrMemberEpoch(generation)
                .setTopics(List.of(new OffsetCommitRequestTopic()
                        .setName("t")
                        .setPartitions(List.of(new OffsetCommitRequestPartition()
                                .setPartitionIndex(0)
                                .setCommittedOffset(offset)
                                .setCommittedMetadata("")))));
        return groups.offsetCommit(Contexts.of(ApiKeys.OFFSET_COMMIT, version), request)
                .thenApply(response -> Errors.forCode(
                        response.topics().get(0).partitions().get(0).errorCode()));
    }

    /** What the group committed for partition 0 of topic t, or the error. */
    String committed(String group) {
        OffsetFetchRequestData request = new OffsetFetchRequestData()
                .setGroups(List.of(new OffsetFetchRequestGroup()
                        .setGroupId(group)
                        .setTopics(List.of(
                                new OffsetFetchRequestTopics().setName("t").setPartitionIndexes(List.of(0))))));
        OffsetFetchResponseGroup answer = get(groups.offsetFetch(Contexts.of(ApiKeys.OFFSET_FETCH, 9), request))
                .groups()
                .get(0);
        return answer.errorCode() != Errors.NONE.code()
                ? Errors.forCode(answer.errorCode()).name()
                : Long.toString(answer.topics().get(0).partitions().get(0).committedOffset());
    }

    @Override
    public void close() {
        feed.close();
        host.close();
        loadThreads.shutdownNow();
    }
}
