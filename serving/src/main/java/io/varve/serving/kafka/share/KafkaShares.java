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
import org.apache.kafka.common.protocol.ApiMessage;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.DeleteShareGroupStateRequest;
import org.apache.kafka.common.requests.InitializeShareGroupStateRequest;
import org.apache.kafka.common.requests.ReadShareGroupStateRequest;
import org.apache.kafka.common.requests.ReadShareGroupStateSummaryRequest;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.common.requests.WriteShareGroupStateRequest;
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

    private <R extends ApiMessage> CompletableFuture<R> ask(
            AbstractRequest request, Class<R> type, Function<ShareCoordinator, CompletableFuture<R>> question) {
        Function<Errors, R> refusal = error ->
                type.cast(request.getErrorResponse(0, error.exception()).data());
        Optional<ShareCoordinator> coordinator = host.coordinator();
        if (coordinator.isEmpty()) {
            return CompletableFuture.completedFuture(refusal.apply(Errors.COORDINATOR_NOT_AVAILABLE));
        }
        try {
            return Answers.or(question.apply(coordinator.get()), refusal);
        } catch (RuntimeException e) {
            return CompletableFuture.completedFuture(refusal.apply(Answers.errorOf(e)));
        }
    }

    @Override
    public CompletableFuture<InitializeShareGroupStateResponseData> initializeState(
            RequestContext context, InitializeShareGroupStateRequestData request) {
        return ask(
                new InitializeShareGroupStateRequest(request, context.apiVersion()),
                InitializeShareGroupStateResponseData.class,
                coordinator -> coordinator.initializeState(context, request));
    }

    @Override
    public CompletableFuture<ReadShareGroupStateResponseData> readState(
            RequestContext context, ReadShareGroupStateRequestData request) {
        return ask(
                new ReadShareGroupStateRequest(request, context.apiVersion()),
                ReadShareGroupStateResponseData.class,
                coordinator -> coordinator.readState(context, request));
    }

    @Override
    public CompletableFuture<WriteShareGroupStateResponseData> writeState(
            RequestContext context, WriteShareGroupStateRequestData request) {
        return ask(
                new WriteShareGroupStateRequest(request, context.apiVersion()),
                WriteShareGroupStateResponseData.class,
                coordinator -> coordinator.writeState(context, request));
    }

    @Override
    public CompletableFuture<DeleteShareGroupStateResponseData> deleteState(
            RequestContext context, DeleteShareGroupStateRequestData request) {
        return ask(
                new DeleteShareGroupStateRequest(request, context.apiVersion()),
                DeleteShareGroupStateResponseData.class,
                coordinator -> coordinator.deleteState(context, request));
    }

    @Override
    public CompletableFuture<ReadShareGroupStateSummaryResponseData> readSummary(
            RequestContext context, ReadShareGroupStateSummaryRequestData request) {
        return ask(
                new ReadShareGroupStateSummaryRequest(request, context.apiVersion()),
                ReadShareGroupStateSummaryResponseData.class,
                coordinator -> coordinator.readStateSummary(context, request));
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
        var data = new org.apache.kafka.common.message.WriteShareGroupStateRequestData.PartitionData()
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
