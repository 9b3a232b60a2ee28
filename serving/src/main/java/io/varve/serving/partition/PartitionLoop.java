package io.varve.serving.partition;

import io.varve.base.FaultHandler;
import io.varve.base.TopicId;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigs;
import io.varve.serving.cache.TailBudget;
import io.varve.serving.log.PartitionLogs.OwnershipListener;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.IntSupplier;

/** One event loop, and what its partitions share on it without locks. */
final class PartitionLoop implements Executor {

    private static final int INDEXES_MAX = 1_024;
    private static final int CONFIGS_MAX = 1_024;

    private final LoopThread thread;
    private final FaultHandler faults;
    private final TailBudget tailBudget;
    private final ReadGate recoveryReads;
    private final List<OwnedLog> logs = new ArrayList<>();
    private final List<OwnershipListener> listeners = new ArrayList<>();
    private volatile PartitionFigures figures = PartitionFigures.NONE;
    private final LinkedHashMap<Long, SegmentIndex> indexes = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Long, SegmentIndex> eldest) {
            return size() > INDEXES_MAX;
        }
    };
    private final LinkedHashMap<TopicId, ReadConfigs> configs = new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<TopicId, ReadConfigs> eldest) {
            return size() > CONFIGS_MAX;
        }
    };

    PartitionLoop(LoopThread thread, FaultHandler faults, long cacheBytes, int recoveryReadsMax) {
        this.thread = thread;
        this.faults = faults;
        this.tailBudget = new TailBudget(cacheBytes);
        this.recoveryReads = new ReadGate(recoveryReadsMax);
    }

    /** Runs a task on the loop later; what it throws is a fault. */
    @Override
    public void execute(Runnable task) {
        thread.execute(() -> guarded(task));
    }

    /** Runs a task on the loop: at once if this is its thread. */
    void run(Runnable task) {
        if (thread.isCurrent()) {
            guarded(task);
        } else {
            execute(task);
        }
    }

    /** Hands a future's outcome to {@code handler} on the loop; what the handler throws is a fault, and not swallowed by the future. */
    <T> void on(CompletableFuture<T> future, BiConsumer<? super T, Throwable> handler) {
        future.whenComplete((value, failure) -> execute(() -> handler.accept(value, failure)));
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error fault) {
            faults.onFault("partition loop", fault);
        }
    }

    /** @param usableBookies how many bookies take new segments */
    void startTicking(long tickMs, IntSupplier usableBookies) {
        thread.every(
                tickMs,
                () -> guarded(() -> {
                    int usable = usableBookies.getAsInt();
                    for (OwnedLog log : List.copyOf(logs)) {
                        log.tick(usable);
                    }
                }));
    }

    /** Runs a task on the loop again and again. */
    void every(long intervalMs, Runnable task) {
        thread.every(intervalMs, () -> guarded(task));
    }

    /** Counts its partitions again and again. */
    void startCounting(long intervalMs, Runnable counted) {
        every(intervalMs, () -> {
            PartitionFigures sum = PartitionFigures.NONE;
            for (OwnedLog log : logs) {
                sum = sum.plus(log.figures());
            }
            figures = sum;
            counted.run();
        });
    }

    /** As of the last count; any thread. */
    PartitionFigures figures() {
        return figures;
    }

    void add(OwnedLog log) {
        logs.add(log);
    }

    void remove(OwnedLog log) {
        logs.remove(log);
    }

    /** The logs on this loop; on the loop only. */
    List<OwnedLog> logs() {
        return List.copyOf(logs);
    }

    void addListener(OwnershipListener listener) {
        listeners.add(listener);
    }

    /** Who is told of the loop's logs; on the loop only. */
    List<OwnershipListener> listeners() {
        return List.copyOf(listeners);
    }

    TailBudget tailBudget() {
        return tailBudget;
    }

    /** Bounds what takeovers read at a time, however many there are. */
    ReadGate recoveryReads() {
        return recoveryReads;
    }

    /** What holds for a topic, read from its configuration once for all its partitions here; on the loop only. */
    TopicConfigs configsOf(Topic topic, Map<String, String> clusterConfigs) {
        ReadConfigs read = configs.get(topic.id());
        boolean isCurrent = read != null
                && read.topic() == topic
                && (read.clusterConfigs() == clusterConfigs
                        || read.clusterConfigs().equals(clusterConfigs));
        if (!isCurrent) {
            read = new ReadConfigs(topic, clusterConfigs, TopicConfigs.of(topic, clusterConfigs));
            configs.put(topic.id(), read);
        }
        return read.configs();
    }

    private record ReadConfigs(Topic topic, Map<String, String> clusterConfigs, TopicConfigs configs) {}

    /** What sealed segments' checkpoints say of aborted transactions and times; by segment id; on the loop only. */
    Map<Long, SegmentIndex> indexes() {
        return indexes;
    }
}
