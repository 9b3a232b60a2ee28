package io.varve.serving.kafka.txn;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataClient;
import io.varve.serving.coordinator.TransactionCoordinators;
import io.varve.serving.kafka.metadata.MetadataFeed;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.log.PartitionLogs;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.coordinator.group.GroupCoordinator;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The transaction coordinator put together. */
public final class TxnCoordinator implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TxnCoordinator.class);

    private final TxnHost host;
    private final KafkaTransactions transactions;
    private final List<ScheduledFuture<?>> periodic;

    /**
     * @param groups which take markers for their own partitions; empty while there are none
     * @param brokers to reach other brokers with; not closed here
     * @param threads for retries and loads; not closed here
     */
    public TxnCoordinator(
            CoordinatorOptions options,
            MetadataClient metadata,
            PartitionLogs logs,
            CoordinatorFinder finder,
            Supplier<Optional<GroupCoordinator>> groups,
            BrokerClient brokers,
            ScheduledExecutorService threads,
            Clock clock) {
        TxnOptions txnOptions = TxnOptions.of(options.kafka());
        ProducerIds producerIds = new ProducerIds(metadata);
        MarkerWriter markers = new MarkerWriter(metadata::view, logs, groups);
        this.host = new TxnHost(options, logs, producerIds, threads, clock);
        host.carriedOutBy(new MarkerSender(metadata, options.brokerId(), markers, brokers, threads, host::complete));
        this.transactions = new KafkaTransactions(
                host,
                producerIds,
                new TxnVerifier(finder, options.brokerId(), brokers, threads),
                new MarkerRequests(markers),
                finder,
                metadata::view,
                txnOptions,
                clock);
        this.periodic = List.of(
                every(threads, txnOptions.abortIntervalMs(), host::abortLate),
                every(threads, txnOptions.expireIntervalMs(), () -> host.expireIds(txnOptions.idRetentionMs())));
    }

    /** One failed look must not be the last. */
    private static ScheduledFuture<?> every(ScheduledExecutorService threads, long intervalMs, Runnable task) {
        Runnable guarded = () -> {
            try {
                task.run();
            } catch (RuntimeException e) {
                LOG.error("event=transaction_sweep_failed", e);
            }
        };
        return threads.scheduleWithFixedDelay(guarded, intervalMs, intervalMs, TimeUnit.MILLISECONDS);
    }

    /** What takes views of the metadata, before anything is asked. */
    public MetadataFeed.Sink sink() {
        return host;
    }

    /** Its API. */
    public TransactionCoordinators transactions() {
        return transactions;
    }

    @Override
    public void close() {
        periodic.forEach(task -> task.cancel(false));
        host.close();
    }
}
