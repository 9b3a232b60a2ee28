package io.varve.serving.kafka.group;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.serving.coordinator.InternalTopics;
import io.varve.serving.kafka.metadata.KafkaImage;
import io.varve.serving.kafka.metadata.MetadataFeed;
import io.varve.serving.kafka.runtime.ClockTime;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.runtime.Elections;
import io.varve.serving.kafka.runtime.LogLoader;
import io.varve.serving.kafka.runtime.LogWriter;
import io.varve.serving.kafka.runtime.TenureKeeper;
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
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs Kafka's group coordinator. It is started when {@code __consumer_offsets} is first seen, by however many partitions that really has,
 * and not by what this broker would have created it with: two brokers that disagree on a group's partition would both coordinate it.
 *
 * <p>{@link #onView} is called by the metadata feed's thread alone; everything else is safe for any thread.
 */
public final class GroupHost implements MetadataFeed.Sink, Elections, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(GroupHost.class);

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
    private final PartitionLogs logs;
    private final LogWriter.Verifier verifier;
    private final ScheduledExecutorService loadThreads;
    private final Clock clock;
    private final KafkaImage image = new KafkaImage();
    private final Metrics metrics = new Metrics();
    private final GroupConfigFeed configs;
    private final PartitionMetadataClient ends;

    private volatile Persister persister = new NoOpStatePersister();

    private volatile GroupCoordinatorService service;
    private volatile boolean closed;

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
        this.options = options;
        this.configs = configs;
        this.ends = ends;
        this.logs = logs;
        this.verifier = verifier;
        this.loadThreads = loadThreads;
        this.clock = clock;
    }

    /** What keeps the state of share groups. Once, before the first view. */
    public void keepsShareStateWith(Persister keeper) {
        this.persister = keeper;
    }

    /** Kafka's coordinator, once there are groups to coordinate. */
    public Optional<GroupCoordinator> coordinator() {
        return closed ? Optional.empty() : Optional.ofNullable(service);
    }

    @Override
    public void onView(MetadataView view) {
        if (service != null) {
            feed(view);
            return;
        }
        Optional<Topic> topic = view.topic(InternalTopics.CONSUMER_OFFSETS);
        if (topic.isPresent() && !closed) {
            start(topic.get(), view);
        }
    }

    private void feed(MetadataView view) {
        GroupCoordinatorService running = service;
        configs.follow(view);
        image.advance(view).ifPresent(change -> running.onMetadataUpdate(change.delta(), change.image()));
    }

    private void start(Topic topic, MetadataView view) {
        TenureKeeper keeper = new TenureKeeper(topic.id(), topic.name(), this);
        LogWriter writer = new LogWriter(keeper, verifier, options.batchBytesMax());
        GroupCoordinatorService built = build(writer);
        built.startup(topic::partitions);
        service = built;
        LOG.info("event=group_coordinator_started partitions={}", topic.partitions());
        feed(view);
        logs.subscribe(keeper);
    }

    /** What was configured, over our own defaults. */
    public static Map<String, String> settings(CoordinatorOptions options) {
        Map<String, String> settings = new TreeMap<>(PROMPT_ASSIGNMENT);
        settings.putAll(options.kafka());
        return settings;
    }

    private GroupCoordinatorService build(LogWriter writer) {
        Map<String, String> settings = settings(options);
        GroupCoordinatorConfig config = GroupCoordinatorConfig.fromProps(settings);
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
    public void onElection(int partition, int tenure) {
        if (!closed) {
            service.onElection(partition, tenure);
        }
    }

    @Override
    public void onResignation(int partition, int nextTenure) {
        if (!closed) {
            service.onResignation(partition, OptionalInt.of(nextTenure));
        }
    }

    /** Stops; what waits is answered with NOT_COORDINATOR. */
    @Override
    public void close() {
        closed = true;
        GroupCoordinatorService running = service;
        if (running != null) {
            running.shutdown();
        }
        metrics.close();
    }
}
