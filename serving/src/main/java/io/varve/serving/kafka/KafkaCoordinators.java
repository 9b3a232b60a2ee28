package io.varve.serving.kafka;

import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.metadata.api.MetadataClient;
import io.varve.serving.coordinator.Coordinators;
import io.varve.serving.coordinator.GroupCoordinators;
import io.varve.serving.coordinator.ResourceRules;
import io.varve.serving.coordinator.ShareCoordinators;
import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.coordinator.TransactionCoordinators.Verification;
import io.varve.serving.kafka.group.GroupConfigFeed;
import io.varve.serving.kafka.group.GroupConfigRules;
import io.varve.serving.kafka.group.GroupHost;
import io.varve.serving.kafka.group.KafkaGroups;
import io.varve.serving.kafka.group.PartitionEnds;
import io.varve.serving.kafka.metadata.MetadataFeed;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.share.KafkaShares;
import io.varve.serving.kafka.share.ShareHost;
import io.varve.serving.kafka.txn.TxnCoordinator;
import io.varve.serving.log.PartitionLogs;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.FindCoordinatorRequestData;
import org.apache.kafka.common.message.FindCoordinatorResponseData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.RequestContext;
import org.apache.kafka.coordinator.group.modern.share.ShareGroupConfig;

/** The coordinators of a broker, put together. */
public final class KafkaCoordinators implements Coordinators {

    private static final int THREADS = 2;

    private final CoordinatorFinder finder;
    private final BrokerClient brokers;
    private final GroupHost groupHost;
    private final ShareHost shareHost;
    private final KafkaShares shares;
    private final KafkaGroups groups;
    private final GroupConfigRules groupConfigs;
    private final TxnCoordinator txns;
    private final MetadataFeed feed;
    private final ScheduledExecutorService threads;

    /**
     * Begins to coordinate what {@code logs} serves.
     *
     * @param brokers to reach other brokers with ; closed here
     */
    public KafkaCoordinators(
            CoordinatorOptions options,
            MetadataClient metadata,
            PartitionLogs logs,
            BrokerClient brokers,
            Clock clock,
            FaultHandler faults) {
        this.threads = threads();
        this.finder = new CoordinatorFinder(metadata, options);
        this.brokers = brokers;
        GroupConfigFeed configs = new GroupConfigFeed(GroupHost.settings(options));
        this.groupHost = new GroupHost(
                options,
                configs,
                logs,
                new PartitionEnds(metadata::view, options.brokerId(), logs, brokers),
                this::verify,
                threads,
                clock);
        this.shareHost = new ShareHost(options, logs, threads, clock);
        this.shares = new KafkaShares(
                shareHost,
                finder,
                options.brokerId(),
                brokers,
                configs.manager(),
                ShareGroupConfig.fromProps(options.kafka()),
                threads);
        groupHost.keepsShareStateWith(shares.persister());
        this.groupConfigs = new GroupConfigRules(options);
        this.groups = new KafkaGroups(groupHost::coordinator, metadata);
        this.txns =
                new TxnCoordinator(options, metadata, logs, finder, groupHost::coordinator, brokers, threads, clock);
        this.feed = new MetadataFeed(metadata, List.of(groupHost, shareHost, txns.sink()), faults);
    }

    private static ScheduledExecutorService threads() {
        AtomicInteger number = new AtomicInteger();
        return Executors.newScheduledThreadPool(THREADS, task -> {
            Thread created = new Thread(task, "varve-coordinator-" + number.getAndIncrement());
            created.setDaemon(true);
            return created;
        });
    }

    private CompletableFuture<Errors> verify(
            TopicPartition partition, String id, long producerId, short epoch, Verification verification) {
        return transactions()
                .verify(id, producerId, epoch, List.of(partition), verification)
                .thenApply(errors -> errors.get(partition));
    }

    @Override
    public GroupCoordinators groups() {
        return groups;
    }

    @Override
    public ResourceRules groupConfigs() {
        return groupConfigs;
    }

    @Override
    public ShareCoordinators shares() {
        return shares;
    }

    @Override
    public TransactionCoordinators transactions() {
        return txns.transactions();
    }

    @Override
    public CompletableFuture<FindCoordinatorResponseData> findCoordinator(
            RequestContext context, FindCoordinatorRequestData request) {
        return finder.find(context, request);
    }

    @Override
    public void close() {
        feed.close();
        groupHost.close();
        shareHost.close();
        txns.close();
        brokers.close();
        threads.shutdownNow();
    }
}
