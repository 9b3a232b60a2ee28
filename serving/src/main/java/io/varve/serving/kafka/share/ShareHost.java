package io.varve.serving.kafka.share;

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
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.share.ShareCoordinator;
import org.apache.kafka.coordinator.share.ShareCoordinatorConfig;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;
import org.apache.kafka.coordinator.share.ShareCoordinatorService;
import org.apache.kafka.coordinator.share.metrics.ShareCoordinatorMetrics;
import org.apache.kafka.coordinator.share.metrics.ShareCoordinatorRuntimeMetrics;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs Kafka's share coordinator. Like that of groups it starts when its topic is first seen, by the number of partitions that it really has.
 * It cuts its log itself: a record of it is a snapshot or a change since, so that the newest of a key alone says nothing.
 *
 * <p>{@link #onView} is called by the metadata feed's thread alone; everything else is safe for any thread.
 */
public final class ShareHost implements MetadataFeed.Sink, Elections, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ShareHost.class);

    private final CoordinatorOptions options;
    private final PartitionLogs logs;
    private final ScheduledExecutorService loadThreads;
    private final Clock clock;
    private final KafkaImage image = new KafkaImage();
    private final Metrics metrics = new Metrics();

    private volatile ShareCoordinatorService service;
    private volatile boolean closed;

    /** @param loadThreads where partitions are loaded; not closed here */
    public ShareHost(
            CoordinatorOptions options, PartitionLogs logs, ScheduledExecutorService loadThreads, Clock clock) {
        this.options = options;
        this.logs = logs;
        this.loadThreads = loadThreads;
        this.clock = clock;
    }

    /** Kafka's coordinator, once there is anything to coordinate. */
    public Optional<ShareCoordinator> coordinator() {
        return closed ? Optional.empty() : Optional.ofNullable(service);
    }

    @Override
    public void onView(MetadataView view) {
        if (service != null) {
            feed(view);
            return;
        }
        Optional<Topic> topic = view.topic(InternalTopics.SHARE_GROUP_STATE);
        if (topic.isPresent() && !closed) {
            start(topic.get(), view);
        }
    }

    private void feed(MetadataView view) {
        ShareCoordinatorService running = service;
        image.advance(view).ifPresent(change -> running.onMetadataUpdate(change.delta(), change.image()));
    }

    private void start(Topic topic, MetadataView view) {
        TenureKeeper keeper = new TenureKeeper(topic.id(), topic.name(), this);
        // Nothing that it writes is part of a transaction.
        LogWriter writer = new LogWriter(
                keeper,
                (partition, id, producerId, epoch, verification) ->
                        CompletableFuture.completedFuture(Errors.INVALID_REQUEST),
                options.batchBytesMax());
        ShareCoordinatorService built = new ShareCoordinatorService.Builder(
                        options.brokerId(),
                        new ShareCoordinatorConfig(
                                new AbstractConfig(ShareCoordinatorConfig.CONFIG_DEF, options.kafka(), false)))
                .withTime(new ClockTime(clock))
                .withTimer(new SystemTimerReaper("varve-share-reaper", new SystemTimer("varve-share-timer")))
                .withLoader(LogLoader.uncompacted(writer, new ShareCoordinatorRecordSerde(), loadThreads, clock))
                .withWriter(writer)
                .withCoordinatorRuntimeMetrics(new ShareCoordinatorRuntimeMetrics(metrics))
                .withCoordinatorMetrics(new ShareCoordinatorMetrics(metrics))
                .build();
        built.startup(topic::partitions);
        service = built;
        LOG.info("event=share_coordinator_started partitions={}", topic.partitions());
        feed(view);
        logs.subscribe(keeper);
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
        ShareCoordinatorService running = service;
        if (running != null) {
            running.shutdown();
        }
        metrics.close();
    }
}
