package io.varve.serving.net;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.serving.coordinator.Coordinators;
import io.varve.serving.coordinator.GroupCoordinators;
import io.varve.serving.coordinator.ShareCoordinators;
import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.kafka.record.RecordValidation;
import io.varve.serving.request.Answer;
import io.varve.serving.request.BrokerServices;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.request.RequestProcessor;
import io.varve.serving.request.admission.ClientQuotasHandler;
import io.varve.serving.request.cluster.AbsentHandler;
import io.varve.serving.request.cluster.ApiVersionsHandler;
import io.varve.serving.request.cluster.DescribeClusterHandler;
import io.varve.serving.request.cluster.DescribeQuorumHandler;
import io.varve.serving.request.cluster.TelemetryHandler;
import io.varve.serving.request.config.AlterConfigsHandler;
import io.varve.serving.request.config.DescribeConfigsHandler;
import io.varve.serving.request.config.NamedResources;
import io.varve.serving.request.data.DeleteRecordsHandler;
import io.varve.serving.request.data.DescribeProducersHandler;
import io.varve.serving.request.data.FetchHandler;
import io.varve.serving.request.data.FetchMemory;
import io.varve.serving.request.data.LeaderEpochHandler;
import io.varve.serving.request.data.ListOffsetsHandler;
import io.varve.serving.request.data.ProduceHandler;
import io.varve.serving.request.share.ShareHandler;
import io.varve.serving.request.topic.CreatePartitionsHandler;
import io.varve.serving.request.topic.CreateTopicsHandler;
import io.varve.serving.request.topic.DeleteTopicsHandler;
import io.varve.serving.request.topic.DescribeTopicPartitionsHandler;
import io.varve.serving.request.topic.MetadataHandler;
import io.varve.serving.request.topic.TopicCreator;
import io.varve.serving.session.ClientSession;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.AddOffsetsToTxnResponse;
import org.apache.kafka.common.requests.AddPartitionsToTxnResponse;
import org.apache.kafka.common.requests.AlterShareGroupOffsetsResponse;
import org.apache.kafka.common.requests.ConsumerGroupDescribeResponse;
import org.apache.kafka.common.requests.ConsumerGroupHeartbeatResponse;
import org.apache.kafka.common.requests.DeleteGroupsResponse;
import org.apache.kafka.common.requests.DeleteShareGroupOffsetsResponse;
import org.apache.kafka.common.requests.DescribeGroupsResponse;
import org.apache.kafka.common.requests.DescribeShareGroupOffsetsResponse;
import org.apache.kafka.common.requests.DescribeTransactionsResponse;
import org.apache.kafka.common.requests.EndTxnResponse;
import org.apache.kafka.common.requests.FindCoordinatorResponse;
import org.apache.kafka.common.requests.HeartbeatResponse;
import org.apache.kafka.common.requests.InitProducerIdResponse;
import org.apache.kafka.common.requests.JoinGroupResponse;
import org.apache.kafka.common.requests.LeaveGroupResponse;
import org.apache.kafka.common.requests.ListGroupsResponse;
import org.apache.kafka.common.requests.ListTransactionsResponse;
import org.apache.kafka.common.requests.OffsetCommitResponse;
import org.apache.kafka.common.requests.OffsetDeleteResponse;
import org.apache.kafka.common.requests.OffsetFetchResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.ShareGroupDescribeResponse;
import org.apache.kafka.common.requests.ShareGroupHeartbeatResponse;
import org.apache.kafka.common.requests.StreamsGroupDescribeResponse;
import org.apache.kafka.common.requests.StreamsGroupHeartbeatResponse;
import org.apache.kafka.common.requests.SyncGroupResponse;
import org.apache.kafka.common.requests.TxnOffsetCommitResponse;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;

/** The one place where an API key becomes a call: a flat switch. */
public final class RequestDispatcher implements RequestProcessor {

    private final BrokerServices broker;
    private final ApiVersionsHandler apiVersions;
    private final MetadataHandler metadata;
    private final DescribeTopicPartitionsHandler describeTopicPartitions;
    private final CreateTopicsHandler createTopics;
    private final DeleteTopicsHandler deleteTopics;
    private final CreatePartitionsHandler createPartitions;
    private final ProduceHandler produce;
    private final FetchMemory memory;
    private final FetchHandler fetch;
    private final ShareHandler share;
    private final ListOffsetsHandler listOffsets;
    private final LeaderEpochHandler leaderEpoch;
    private final DeleteRecordsHandler deleteRecords;
    private final DescribeProducersHandler describeProducers;
    private final DescribeConfigsHandler describeConfigs;
    private final AlterConfigsHandler alterConfigs;
    private final DescribeClusterHandler describeCluster;
    private final DescribeQuorumHandler describeQuorum;
    private final ClientQuotasHandler clientQuotas;
    private final TelemetryHandler telemetry;
    private final AbsentHandler absent;
    private final Coordinators coordinators;
    private final GroupCoordinators groups;
    private final ShareCoordinators shares;
    private final TransactionCoordinators transactions;

    /** @param broker surroundings */
    public RequestDispatcher(BrokerServices broker, RecordValidation validation, Coordinators coordinators) {
        TopicCreator creator = new TopicCreator(broker);
        this.broker = broker;
        this.coordinators = coordinators;
        this.groups = coordinators.groups();
        this.shares = coordinators.shares();
        this.transactions = coordinators.transactions();
        this.apiVersions = new ApiVersionsHandler(broker);
        this.metadata = new MetadataHandler(broker, creator);
        this.describeTopicPartitions = new DescribeTopicPartitionsHandler(broker);
        this.createTopics = new CreateTopicsHandler(broker, creator);
        this.deleteTopics = new DeleteTopicsHandler(broker);
        this.createPartitions = new CreatePartitionsHandler(broker, creator);
        this.produce = new ProduceHandler(broker, validation, transactions);
        this.memory = new FetchMemory(broker.settings().fetchMemoryBytes());
        this.fetch = new FetchHandler(broker, memory);
        this.share = new ShareHandler(broker, coordinators.shares(), memory);
        this.listOffsets = new ListOffsetsHandler(broker);
        this.leaderEpoch = new LeaderEpochHandler(broker);
        this.deleteRecords = new DeleteRecordsHandler(broker);
        this.describeProducers = new DescribeProducersHandler(broker);
        NamedResources named = new NamedResources(coordinators.groupConfigs());
        this.describeConfigs = new DescribeConfigsHandler(broker, named);
        this.alterConfigs = new AlterConfigsHandler(broker, named);
        this.describeCluster = new DescribeClusterHandler(broker);
        this.describeQuorum = new DescribeQuorumHandler(broker);
        this.clientQuotas = new ClientQuotasHandler(broker);
        this.telemetry = new TelemetryHandler(broker);
        this.absent = new AbsentHandler(broker);
    }

    /** Counts what Fetch holds. */
    public void register(MeterRegistry registry) {
        registry.gauge("varve.broker.fetch.sessions", fetch, FetchHandler::sessions);
        registry.gauge("varve.broker.fetch.memory.bytes", memory, FetchMemory::used);
        registry.gauge("varve.broker.share.sessions", share, ShareHandler::sessions);
        registry.gauge("varve.broker.share.partitions", share, ShareHandler::partitions);
    }

    @Override
    public void onDisconnect(ClientSession session) {
        share.onDisconnect(session);
    }

    @Override
    public CompletableFuture<Answer> process(ClientRequest request) {
        return switch (request.api()) {
            case PRODUCE -> produce.handle(request);
            case FETCH -> fetch.handle(request);
            case SHARE_FETCH -> share.fetch(request);
            case SHARE_ACKNOWLEDGE -> share.acknowledge(request);
            case LIST_OFFSETS -> listOffsets.handle(request);
            case OFFSET_FOR_LEADER_EPOCH -> leaderEpoch.handle(request);
            case DELETE_RECORDS -> deleteRecords.handle(request);
            case DESCRIBE_PRODUCERS -> describeProducers.handle(request);

            case API_VERSIONS -> now(apiVersions.handle(request));
            case METADATA -> metadata.handle(request);
            case DESCRIBE_TOPIC_PARTITIONS -> describeTopicPartitions.handle(request);
            case CREATE_TOPICS -> createTopics.handle(request);
            case DELETE_TOPICS -> deleteTopics.handle(request);
            case CREATE_PARTITIONS -> createPartitions.handle(request);
            case DESCRIBE_CONFIGS -> describeConfigs.describe(request);
            case LIST_CONFIG_RESOURCES -> describeConfigs.list(request);
            case INCREMENTAL_ALTER_CONFIGS -> alterConfigs.incremental(request);
            case ALTER_CONFIGS -> alterConfigs.replace(request);
            case DESCRIBE_CLUSTER -> describeCluster.cluster(request);
            case DESCRIBE_LOG_DIRS -> describeCluster.logDirs(request);

            case DESCRIBE_QUORUM -> describeQuorum.handle(request);
            case DESCRIBE_CLIENT_QUOTAS -> clientQuotas.describe(request);
            case ALTER_CLIENT_QUOTAS -> clientQuotas.alter(request);
            case GET_TELEMETRY_SUBSCRIPTIONS -> now(telemetry.subscriptions(request));
            case PUSH_TELEMETRY -> now(telemetry.push(request));

            case FIND_COORDINATOR -> route(request, coordinators::findCoordinator, FindCoordinatorResponse::new);
            case JOIN_GROUP ->
                route(request, groups::joinGroup, data -> new JoinGroupResponse(data, request.version()));
            case SYNC_GROUP -> route(request, groups::syncGroup, SyncGroupResponse::new);
            case HEARTBEAT -> route(request, groups::heartbeat, HeartbeatResponse::new);
            case LEAVE_GROUP -> route(request, groups::leaveGroup, LeaveGroupResponse::new);
            case OFFSET_COMMIT -> route(request, groups::offsetCommit, OffsetCommitResponse::new);
            case OFFSET_FETCH ->
                route(request, groups::offsetFetch, data -> new OffsetFetchResponse(data, request.version()));
            case OFFSET_DELETE -> route(request, groups::offsetDelete, OffsetDeleteResponse::new);
            case DESCRIBE_GROUPS -> route(request, groups::describeGroups, DescribeGroupsResponse::new);
            case LIST_GROUPS -> route(request, groups::listGroups, ListGroupsResponse::new);
            case DELETE_GROUPS -> route(request, groups::deleteGroups, DeleteGroupsResponse::new);
            case CONSUMER_GROUP_HEARTBEAT ->
                route(request, groups::consumerGroupHeartbeat, ConsumerGroupHeartbeatResponse::new);
            case CONSUMER_GROUP_DESCRIBE ->
                route(request, groups::consumerGroupDescribe, ConsumerGroupDescribeResponse::new);
            case STREAMS_GROUP_HEARTBEAT ->
                route(request, groups::streamsGroupHeartbeat, StreamsGroupHeartbeatResponse::new);
            case STREAMS_GROUP_DESCRIBE ->
                route(request, groups::streamsGroupDescribe, StreamsGroupDescribeResponse::new);
            case SHARE_GROUP_HEARTBEAT -> route(request, groups::shareGroupHeartbeat, ShareGroupHeartbeatResponse::new);
            case SHARE_GROUP_DESCRIBE -> route(request, groups::shareGroupDescribe, ShareGroupDescribeResponse::new);
            case DESCRIBE_SHARE_GROUP_OFFSETS ->
                route(request, groups::describeShareGroupOffsets, DescribeShareGroupOffsetsResponse::new);
            case ALTER_SHARE_GROUP_OFFSETS ->
                route(request, groups::alterShareGroupOffsets, AlterShareGroupOffsetsResponse::new);
            case DELETE_SHARE_GROUP_OFFSETS ->
                route(request, groups::deleteShareGroupOffsets, DeleteShareGroupOffsetsResponse::new);

            case INITIALIZE_SHARE_GROUP_STATE,
                    READ_SHARE_GROUP_STATE,
                    WRITE_SHARE_GROUP_STATE,
                    DELETE_SHARE_GROUP_STATE,
                    READ_SHARE_GROUP_STATE_SUMMARY ->
                bounded(
                        request,
                        shares.state(request.context(), request.parsed().body()).thenApply(Answer::of));

            case INIT_PRODUCER_ID -> route(request, transactions::initProducerId, InitProducerIdResponse::new);
            case ADD_PARTITIONS_TO_TXN ->
                route(request, transactions::addPartitionsToTxn, AddPartitionsToTxnResponse::new);
            case ADD_OFFSETS_TO_TXN -> route(request, transactions::addOffsetsToTxn, AddOffsetsToTxnResponse::new);
            case END_TXN -> route(request, transactions::endTxn, EndTxnResponse::new);
            case TXN_OFFSET_COMMIT -> route(request, groups::txnOffsetCommit, TxnOffsetCommitResponse::new);
            case WRITE_TXN_MARKERS -> route(request, transactions::writeTxnMarkers, WriteTxnMarkersResponse::new);
            case DESCRIBE_TRANSACTIONS ->
                route(request, transactions::describeTransactions, DescribeTransactionsResponse::new);
            case LIST_TRANSACTIONS -> route(request, transactions::listTransactions, ListTransactionsResponse::new);

            case SASL_HANDSHAKE -> now(absent.saslHandshake());
            case SASL_AUTHENTICATE -> now(absent.refuse(request, Errors.ILLEGAL_SASL_STATE));
            case DESCRIBE_ACLS, CREATE_ACLS, DELETE_ACLS -> now(absent.refuse(request, Errors.SECURITY_DISABLED));
            case CREATE_DELEGATION_TOKEN, RENEW_DELEGATION_TOKEN, EXPIRE_DELEGATION_TOKEN, DESCRIBE_DELEGATION_TOKEN ->
                now(absent.refuse(request, Errors.DELEGATION_TOKEN_AUTH_DISABLED));
            case DESCRIBE_USER_SCRAM_CREDENTIALS, ALTER_USER_SCRAM_CREDENTIALS ->
                now(absent.refuse(request, Errors.SECURITY_DISABLED));
            case ELECT_LEADERS -> now(absent.electLeaders(request));
            case ALTER_PARTITION_REASSIGNMENTS -> now(absent.alterReassignments(request));
            case LIST_PARTITION_REASSIGNMENTS -> now(absent.listReassignments());
            case ALTER_REPLICA_LOG_DIRS -> now(absent.refuse(request, Errors.LOG_DIR_NOT_FOUND));
            case UPDATE_FEATURES -> now(absent.refuse(request, Errors.FEATURE_UPDATE_FAILED));
            default -> now(absent.refuse(request, Errors.UNSUPPORTED_VERSION));
        };
    }

    private static CompletableFuture<Answer> now(Answer answer) {
        return CompletableFuture.completedFuture(answer);
    }

    /** To a coordinator. Joins and syncs wait for other members, and bound that themselves. */
    private <Q extends ApiMessage, A extends ApiMessage> CompletableFuture<Answer> route(
            ClientRequest request,
            BiFunction<RequestContext, Q, CompletableFuture<A>> coordinator,
            Function<A, AbstractResponse> response) {
        Q data = request.data();
        CompletableFuture<Answer> answer =
                coordinator.apply(request.context(), data).thenApply(done -> Answer.of(response.apply(done)));
        return request.api() == ApiKeys.JOIN_GROUP || request.api() == ApiKeys.SYNC_GROUP
                ? answer
                : bounded(request, answer);
    }

    /** A coordinator has as long as a client waits. */
    private CompletableFuture<Answer> bounded(ClientRequest request, CompletableFuture<Answer> answer) {
        return broker.deadlines()
                .within(
                        broker.settings().adminTimeoutMs(),
                        answer,
                        () -> absent.refuse(request, Errors.COORDINATOR_NOT_AVAILABLE));
    }
}
