package io.varve.serving.kafka.group;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.serving.kafka.metadata.KafkaImage;
import io.varve.serving.kafka.runtime.ClockTime;
import io.varve.serving.kafka.runtime.CoordinatorHost;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.runtime.LogLoader;
import io.varve.serving.kafka.runtime.LogWriter;
import io.varve.serving.log.PartitionLogs;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.coordinator.group.GroupCoordinator;
import org.apache.kafka.coordinator.group.GroupCoordinatorConfig;
import org.apache.kafka.coordinator.group.GroupCoordinatorRecordSerde;
import org.apache.kafka.coordinator.group.GroupCoordinatorService;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorMetrics;
import org.apache.kafka.coordinator.group.metrics.GroupCoordinatorRuntimeMetrics;
import org.apache.kafka.server.share.persister.NoOpStatePersister;
import org.apache.kafka.server.share.persister.Persister;
import org.apache.kafka.server.util.PartitionMetadataClient;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.apache.kafka.server.util.timer.Timer;

/** Runs Kafka's group coordinator. */
public final class GroupHost extends CoordinatorHost<GroupCoordinator> {

    /**
     * Kafka 4.4 computes assignments of the new protocols in the background and not more often than each second, so that a member hears
     * of its partitions with a later heartbeat, and those are five seconds apart. Ours hears with the answer to its join.
     */
    private static final Map<String, String> PROMPT_ASSIGNMENT = Map.of(
            "group.consumer.assignor.offload.enable", "false",
            "group.consumer.assignment.interval.ms", "0",
            "group.streams.assignor.offload.enable", "false",
            "group.streams.assignment.interval.ms", "0",
            "group.share.assignor.offload.enable", "false",
            "group.share.assignment.interval.ms", "0");

    private final CoordinatorOptions options;
    private final ScheduledExecutorService loadThreads;
    private final Clock clock;
    private final GroupConfigFeed configs;
    private final PartitionMetadataClient ends;

    private volatile Persister persister = new NoOpStatePersister();

    /**
     * @param configs how groups are configured; kept up to date here
     * @param ends where partitions end, for the lag of share groups
     * @param loadThreads where partitions are loaded; not closed here
     */
    public GroupHost(
            CoordinatorOptions options,
            GroupConfigFeed configs,
            PartitionLogs logs,
            PartitionMetadataClient ends,
            LogWriter.Verifier verifier,
            ScheduledExecutorService loadThreads,
            Clock clock) {
        super(InternalTopics.CONSUMER_OFFSETS, verifier, options, logs);
        this.options = options;
        this.configs = configs;
        this.ends = ends;
        this.loadThreads = loadThreads;
        this.clock = clock;
    }

    /** What keeps the state of share groups. Once, before the first view. */
    public void keepsShareStateWith(Persister keeper) {
        this.persister = keeper;
    }

    /** What was configured, over our own defaults. */
    public static Map<String, String> settings(CoordinatorOptions options) {
        Map<String, String> settings = new TreeMap<>(PROMPT_ASSIGNMENT);
        settings.putAll(options.kafka());
        return settings;
    }

    @Override
    protected GroupCoordinator build(LogWriter writer, Metrics metrics) {
        GroupCoordinatorConfig config = GroupCoordinatorConfig.fromProps(settings(options));
        Timer timer = new SystemTimerReaper("varve-group-reaper", new SystemTimer("varve-group-timer"));
        return new GroupCoordinatorService.Builder(options.brokerId(), config)
                .withTime(new ClockTime(clock))
                .withTimer(timer)
                .withLoader(new LogLoader(writer, new GroupCoordinatorRecordSerde(), loadThreads, clock))
                .withWriter(writer)
                .withCoordinatorRuntimeMetrics(new GroupCoordinatorRuntimeMetrics(metrics))
                .withGroupCoordinatorMetrics(
                        new GroupCoordinatorMetrics(new com.yammer.metrics.core.MetricsRegistry(), metrics))
                .withGroupConfigManager(configs.manager())
                .withPersister(persister)
                .withAuthorizerPlugin(Optional.empty())
                .withPartitionMetadataClient(ends)
                .build();
    }

    @Override
    protected void beforeTelling(MetadataView view) {
        configs.follow(view);
    }

    @Override
    protected void startUp(GroupCoordinator built, int partitions) {
        built.startup(() -> partitions);
    }

    @Override
    protected void tell(GroupCoordinator running, KafkaImage.Change change) {
        running.onMetadataUpdate(change.delta(), change.image());
    }

    @Override
    protected void elect(GroupCoordinator running, int partition, int tenure) {
        running.onElection(partition, tenure);
    }

    @Override
    protected void resign(GroupCoordinator running, int partition, OptionalInt nextTenure) {
        running.onResignation(partition, nextTenure);
    }

    @Override
    protected void shutDown(GroupCoordinator running) {
        running.shutdown();
    }
}
