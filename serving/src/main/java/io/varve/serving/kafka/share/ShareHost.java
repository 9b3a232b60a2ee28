package io.varve.serving.kafka.share;

import io.varve.base.Clock;
import io.varve.metadata.model.InternalTopics;
import io.varve.serving.kafka.metadata.KafkaImage;
import io.varve.serving.kafka.runtime.ClockTime;
import io.varve.serving.kafka.runtime.CoordinatorHost;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.runtime.LogLoader;
import io.varve.serving.kafka.runtime.LogWriter;
import io.varve.serving.log.PartitionLogs;
import java.util.OptionalInt;
import java.util.concurrent.ScheduledExecutorService;
import org.apache.kafka.common.config.AbstractConfig;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.coordinator.share.ShareCoordinator;
import org.apache.kafka.coordinator.share.ShareCoordinatorConfig;
import org.apache.kafka.coordinator.share.ShareCoordinatorRecordSerde;
import org.apache.kafka.coordinator.share.ShareCoordinatorService;
import org.apache.kafka.coordinator.share.metrics.ShareCoordinatorMetrics;
import org.apache.kafka.coordinator.share.metrics.ShareCoordinatorRuntimeMetrics;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;

/**
 * Runs Kafka's share coordinator. It cuts its log itself: a record of it is a snapshot or a change since, so that the newest of a key alone says
 * nothing.
 */
public final class ShareHost extends CoordinatorHost<ShareCoordinator> {

    private final CoordinatorOptions options;
    private final ScheduledExecutorService loadThreads;
    private final Clock clock;

    /** @param loadThreads where partitions are loaded; not closed here */
    public ShareHost(
            CoordinatorOptions options, PartitionLogs logs, ScheduledExecutorService loadThreads, Clock clock) {
        super(InternalTopics.SHARE_GROUP_STATE, LogWriter.Verifier.NO_TRANSACTIONS, options, logs);
        this.options = options;
        this.loadThreads = loadThreads;
        this.clock = clock;
    }

    @Override
    protected ShareCoordinator build(LogWriter writer, Metrics metrics) {
        return new ShareCoordinatorService.Builder(
                        options.brokerId(),
                        new ShareCoordinatorConfig(
                                new AbstractConfig(ShareCoordinatorConfig.CONFIG_DEF, options.kafka(), false)))
                .withTime(new ClockTime(clock))
                .withTimer(new SystemTimerReaper("varve-share-reaper", new SystemTimer("varve-share-timer")))
                .withLoader(new LogLoader(writer, new ShareCoordinatorRecordSerde(), loadThreads, clock))
                .withWriter(writer)
                .withCoordinatorRuntimeMetrics(new ShareCoordinatorRuntimeMetrics(metrics))
                .withCoordinatorMetrics(new ShareCoordinatorMetrics(metrics))
                .build();
    }

    @Override
    protected void startUp(ShareCoordinator built, int partitions) {
        built.startup(() -> partitions);
    }

    @Override
    protected void tell(ShareCoordinator running, KafkaImage.Change change) {
        running.onMetadataUpdate(change.delta(), change.image());
    }

    @Override
    protected void elect(ShareCoordinator running, int partition, int tenure) {
        running.onElection(partition, tenure);
    }

    @Override
    protected void resign(ShareCoordinator running, int partition, OptionalInt nextTenure) {
        running.onResignation(partition, nextTenure);
    }

    @Override
    protected void shutDown(ShareCoordinator running) {
        running.shutdown();
    }
}
