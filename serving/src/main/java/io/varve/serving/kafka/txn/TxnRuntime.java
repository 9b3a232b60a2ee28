package io.varve.serving.kafka.txn;

import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.runtime.LogLoader;
import io.varve.serving.kafka.runtime.LogWriter;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.IntConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime.CoordinatorReadOperation;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntime.CoordinatorWriteOperation;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRuntimeMetricsImpl;
import org.apache.kafka.coordinator.common.runtime.MultiThreadedEventProcessor;
import org.apache.kafka.coordinator.transaction.TransactionCoordinatorRecordSerde;
import org.apache.kafka.server.util.timer.SystemTimer;
import org.apache.kafka.server.util.timer.SystemTimerReaper;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Kafka's coordinator runtime over shards of transactions. Safe for any thread; nothing blocks but {@link #close}. */
final class TxnRuntime implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TxnRuntime.class);
    private static final int THREADS = 2;
    private static final String METRICS_GROUP = "transaction-coordinator-metrics";

    /** Kafka's own judgement: what is queued is written together, and nothing waits when the queue is empty. */
    private static final OptionalInt APPEND_LINGER_MS = OptionalInt.empty();

    private static final Duration WRITE_TIMEOUT = Duration.ofSeconds(10);

    private final CoordinatorRuntime<TxnShard, CoordinatorRecord> runtime;

    private TxnRuntime(CoordinatorRuntime<TxnShard, CoordinatorRecord> runtime) {
        this.runtime = runtime;
    }

    /** @param onLoaded told of each partition that has been loaded, on a thread of the runtime */
    static TxnRuntime start(
            CoordinatorOptions options, LogWriter writer, LogLoader loader, Metrics metrics, IntConsumer onLoaded) {
        String prefix = "TransactionCoordinator id=" + options.brokerId();
        LogContext context = new LogContext("[" + prefix + "] ");
        CoordinatorRuntimeMetricsImpl runtimeMetrics = new CoordinatorRuntimeMetricsImpl(metrics, METRICS_GROUP, false);
        return new TxnRuntime(new CoordinatorRuntime.Builder<TxnShard, CoordinatorRecord>()
                .withTime(Time.SYSTEM)
                .withTimer(new SystemTimerReaper("varve-txn-reaper", new SystemTimer("varve-txn-timer")))
                .withLogPrefix(prefix)
                .withLogContext(context)
                .withEventProcessor(new MultiThreadedEventProcessor(
                        context, "varve-txn-coordinator-", THREADS, Time.SYSTEM, runtimeMetrics))
                .withPartitionWriter(writer)
                .withLoader(loader)
                .withCoordinatorShardBuilderSupplier(() -> new TxnShardBuilder(writer, onLoaded))
                .withWriteTimeout(WRITE_TIMEOUT)
                .withCoordinatorRuntimeMetrics(runtimeMetrics)
                .withCoordinatorMetrics(new NoShardMetrics())
                .withSerializer(new TransactionCoordinatorRecordSerde())
                .withCompression(Compression.NONE)
                .withAppendLingerMs(APPEND_LINGER_MS)
                .withExecutorService(background())
                .withCachedBufferMaxBytesSupplier(options::batchBytesMax)
                .build());
    }

    /**
     * The runtime wants one for work that our shards don't have, and shuts it down when it is closed. It starts no thread until there is some,
     * and takes no more than it can begin at once: the runtime says so to whoever asks.
     */
    private static ExecutorService background() {
        return new ThreadPoolExecutor(0, 1, 1, TimeUnit.SECONDS, new SynchronousQueue<>());
    }

    <T> CompletableFuture<T> write(
            String what,
            TopicPartition partition,
            CoordinatorWriteOperation<TxnShard, T, CoordinatorRecord> operation) {
        return runtime.scheduleWriteOperation(what, partition, operation);
    }

    <T> List<CompletableFuture<T>> writeAll(
            String what, CoordinatorWriteOperation<TxnShard, T, CoordinatorRecord> operation) {
        return runtime.scheduleWriteAllOperation(what, operation);
    }

    <T> CompletableFuture<T> read(
            String what, TopicPartition partition, CoordinatorReadOperation<TxnShard, T> operation) {
        return runtime.scheduleReadOperation(what, partition, operation);
    }

    <T> List<CompletableFuture<T>> readAll(String what, CoordinatorReadOperation<TxnShard, T> operation) {
        return runtime.scheduleReadAllOperation(what, operation);
    }

    void load(TopicPartition partition, int tenure) {
        runtime.scheduleLoadOperation(partition, tenure);
    }

    void unload(TopicPartition partition, OptionalInt nextTenure) {
        runtime.scheduleUnloadOperation(partition, nextTenure);
    }

    @Override
    public void close() {
        try {
            runtime.close();
        } catch (Exception e) {
            LOG.warn("event=transaction_runtime_close_failed", e);
        }
    }
}
