package io.varve.serving.kafka.share;

import io.varve.serving.coordinator.ShareCoordinators;
import io.varve.serving.coordinator.ShareGroupSettings;
import io.varve.serving.coordinator.ShareGroupSettings.Reset;
import io.varve.serving.coordinator.ShareStates;
import io.varve.serving.core.share.Deliveries;
import io.varve.serving.core.share.DeliveryState;
import io.varve.serving.core.share.ShareKey;
import io.varve.serving.core.share.ShareLimits;
import io.varve.serving.core.share.StateBatch;
import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Function;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.message.ReadShareGroupStateResponseData;
import org.apache.kafka.common.message.WriteShareGroupStateRequestData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.AbstractResponse;
import org.apache.kafka.common.requests.DeleteShareGroupStateRequest;
import org.apache.kafka.common.requests.DeleteShareGroupStateResponse;
import org.apache.kafka.common.requests.InitializeShareGroupStateRequest;
import org.apache.kafka.common.requests.InitializeShareGroupStateResponse;
import org.apache.kafka.common.requests.ReadShareGroupStateRequest;
import org.apache.kafka.common.requests.ReadShareGroupStateResponse;
import org.apache.kafka.common.requests.ReadShareGroupStateSummaryRequest;
import org.apache.kafka.common.requests.ReadShareGroupStateSummaryResponse;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.WriteShareGroupStateRequest;
import org.apache.kafka.common.requests.WriteShareGroupStateResponse;
import org.apache.kafka.coordinator.group.GroupConfig;
import org.apache.kafka.coordinator.group.GroupConfigManager;
import org.apache.kafka.coordinator.group.ShareGroupAutoOffsetResetStrategy;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfigProvider;
import org.apache.kafka.coordinator.share.ShareCoordinator;
import org.apache.kafka.server.share.persister.Persister;

/** {@link ShareCoordinators} by Kafka's own share coordinator. */
public final class KafkaShares implements ShareCoordinators, ShareStates {

    private final ShareHost host;
    private final ShareStateCalls calls;
    private final GroupConfigManager groups;
    private final ShareGroupConfigProvider configs;
    private final ShareGroupConfig defaults;

    /**
     * @param groups how groups are configured
     * @param defaults what holds for those that aren't
     * @param threads for retries; not closed here
     */
    public KafkaShares(
            ShareHost host,
            CoordinatorFinder finder,
            int brokerId,
            BrokerClient brokers,
            GroupConfigManager groups,
            ShareGroupConfig defaults,
            ScheduledExecutorService threads) {
        this.host = host;
        this.calls = new ShareStateCalls(finder, brokerId, host::coordinator, brokers, threads);
        this.groups = groups;
        this.configs = new ShareGroupConfigProvider(groups);
        this.defaults = defaults;
    }

    /** The same for the coordinator of share groups. */
    public Persister persister() {
        return new SharePersister(calls);
    }

    // ---- for other brokers

    @Override
    public CompletableFuture<AbstractResponse> state(RequestContext context, AbstractRequest request) {
        Function<Errors, AbstractResponse> refusal = error -> request.getErrorResponse(0, error.exception());
        Optional<ShareCoordinator> coordinator = host.coordinator();
        if (coordinator.isEmpty()) {
            return CompletableFuture.completedFuture(refusal.apply(Errors.COORDINATOR_NOT_AVAILABLE));
        }
        try {
            return Answers.or(ask(coordinator.get(), context, request), refusal);
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(refusal.apply(Answers.errorOf(e)));
        }
    }

    private static CompletableFuture<AbstractResponse> ask(
            ShareCoordinator coordinator, RequestContext context, AbstractRequest request) {
        return switch (request.apiKey()) {
            case INITIALIZE_SHARE_GROUP_STATE ->
                coordinator
                        .initializeState(context, ((InitializeShareGroupStateRequest) request).data())
                        .thenApply(InitializeShareGroupStateResponse::new);
            case READ_SHARE_GROUP_STATE ->
                coordinator
                        .readState(context, ((ReadShareGroupStateRequest) request).data())
                        .thenApply(ReadShareGroupStateResponse::new);
            case WRITE_SHARE_GROUP_STATE ->
                coordinator
                        .writeState(context, ((WriteShareGroupStateRequest) request).data())
                        .thenApply(WriteShareGroupStateResponse::new);
            case DELETE_SHARE_GROUP_STATE ->
                coordinator
                        .deleteState(context, ((DeleteShareGroupStateRequest) request).data())
                        .thenApply(DeleteShareGroupStateResponse::new);
            case READ_SHARE_GROUP_STATE_SUMMARY ->
                coordinator
                        .readStateSummary(context, ((ReadShareGroupStateSummaryRequest) request).data())
                        .thenApply(ReadShareGroupStateSummaryResponse::new);
            default -> throw new IllegalArgumentException("Not about the state of share groups: " + request.apiKey());
        };
    }

    // ---- for the owners of partitions at this broker

    @Override
    public ShareStates states() {
        return this;
    }

    @Override
    public CompletableFuture<Stored> read(ShareKey key, int leaderEpoch) {
        Uuid topic = ShareStateCalls.topicOf(key.partition());
        int partition = key.partition().index();
        return calls.ask(
                        key.group(),
                        topic,
                        partition,
                        ShareStateRequests.read(
                                topic,
                                partition,
                                ShareStateRequests.readOf(key.group(), topic, partition, leaderEpoch)))
                .thenApply(data -> stored(data.results().get(0).partitions().get(0)));
    }

    private static Stored stored(ReadShareGroupStateResponseData.PartitionResult result) {
        List<StateBatch> batches = new ArrayList<>();
        for (ReadShareGroupStateResponseData.StateBatch batch : result.stateBatches()) {
            batches.add(new StateBatch(
                    batch.firstOffset(),
                    batch.lastOffset(),
                    // What is stored as under way to a dead-letter queue was given up.
                    DeliveryState.of(batch.deliveryState()).orElse(DeliveryState.ARCHIVED),
                    batch.deliveryCount()));
        }
        return new Stored(Errors.forCode(result.errorCode()), result.stateEpoch(), result.startOffset(), batches);
    }

    @Override
    public CompletableFuture<Errors> write(ShareKey key, int stateEpoch, int leaderEpoch, Deliveries.Write write) {
        Uuid topic = ShareStateCalls.topicOf(key.partition());
        int partition = key.partition().index();
        WriteShareGroupStateRequestData.PartitionData data = new WriteShareGroupStateRequestData.PartitionData()
                .setPartition(partition)
                .setStateEpoch(stateEpoch)
                .setLeaderEpoch(leaderEpoch)
                .setStartOffset(write.startOffset())
                .setDeliveryCompleteCount(write.finalOffsets())
                .setStateBatches(write.changed().stream()
                        .map(batch -> new WriteShareGroupStateRequestData.StateBatch()
                                .setFirstOffset(batch.firstOffset())
                                .setLastOffset(batch.lastOffset())
                                .setDeliveryState(batch.state().id())
                                .setDeliveryCount((short) Math.min(Short.MAX_VALUE, batch.deliveries())))
                        .toList());
        return calls.ask(
                        key.group(),
                        topic,
                        partition,
                        ShareStateRequests.write(
                                topic, partition, ShareStateRequests.writeOf(key.group(), topic, data)))
                .thenApply(answer -> Errors.forCode(
                        answer.results().get(0).partitions().get(0).errorCode()));
    }

    @Override
    public ShareGroupSettings settings(String group) {
        ShareLimits limits = new ShareLimits(
                configs.recordLockDurationMsOrDefault(group, defaults.shareGroupRecordLockDurationMs()),
                configs.deliveryCountLimitOrDefault(group, defaults.shareGroupDeliveryCountLimit()),
                configs.partitionMaxRecordLocksOrDefault(group, defaults.shareGroupPartitionMaxRecordLocks()));
        ShareGroupAutoOffsetResetStrategy reset = configs.autoOffsetReset(group);
        IsolationLevel isolation = groups.groupConfig(group)
                .flatMap(GroupConfig::shareIsolationLevel)
                .orElse(GroupConfig.defaultShareIsolationLevel());
        return new ShareGroupSettings(
                limits,
                configs.isRenewAcknowledgeEnabled(group),
                switch (reset.type()) {
                    case EARLIEST -> Reset.EARLIEST;
                    case LATEST -> Reset.LATEST;
                    case BY_DURATION -> Reset.TIME;
                },
                reset.type() == ShareGroupAutoOffsetResetStrategy.StrategyType.BY_DURATION ? reset.timestamp() : 0,
                isolation == IsolationLevel.READ_COMMITTED);
    }
}
