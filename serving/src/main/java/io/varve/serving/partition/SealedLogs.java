package io.varve.serving.partition;

import io.varve.base.PartitionId;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.log.PartitionLog;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sealed parts of logs that other brokers own. Bounded: that which was read longest ago is forgotten. Loading one costs what a takeover reads:
 * a checkpoint and what comes after it. Safe for any thread.
 */
final class SealedLogs {

    private static final Logger LOG = LoggerFactory.getLogger(SealedLogs.class);
    private static final int LOGS_MAX = 256;

    private final PartitionContext context;
    private final Function<PartitionId, PartitionLoop> loops;
    private final Map<PartitionId, CompletableFuture<Optional<SealedLog>>> known =
            new LinkedHashMap<>(16, 0.75f, true) {
                private static final long serialVersionUID = 1L;

                @Override
                protected boolean removeEldestEntry(
                        Map.Entry<PartitionId, CompletableFuture<Optional<SealedLog>>> eldest) {
                    return size() > LOGS_MAX;
                }
            };

    /** @param loops which loop a partition lives on */
    SealedLogs(PartitionContext context, Function<PartitionId, PartitionLoop> loops) {
        this.context = context;
        this.loops = loops;
    }

    /** The sealed part as the metadata has it now; empty if nothing is sealed, or if it can't be had now. Never fails. */
    CompletableFuture<Optional<PartitionLog>> find(PartitionId id) {
        Optional<PartitionState> now = context.metadata().view().partition(id);
        if (now.isEmpty() || SealedLog.endOf(now.get()) <= now.get().logStartOffset()) {
            return CompletableFuture.completedFuture(Optional.empty());
        }
        CompletableFuture<Optional<SealedLog>> log;
        synchronized (known) {
            log = known.get(id);
            if (log == null || !isCurrent(log, now.get())) {
                log = load(now.get());
                known.put(id, log);
            }
        }
        return log.thenApply(loaded -> loaded.map(found -> found));
    }

    /** One that is being loaded is as current as it gets. */
    private static boolean isCurrent(CompletableFuture<Optional<SealedLog>> log, PartitionState now) {
        return !log.isDone() || log.join().filter(loaded -> loaded.isOf(now)).isPresent();
    }

    private CompletableFuture<Optional<SealedLog>> load(PartitionState partition) {
        PartitionLoop loop = loops.apply(partition.id());
        long endOffset = SealedLog.endOf(partition);
        CompletableFuture<Optional<SealedLog>> loaded = new CompletableFuture<>();
        loop.execute(() -> new StateLoader(context, loop, new SegmentReader(context), partition, endOffset)
                .load()
                .whenComplete((state, failure) -> {
                    if (failure != null) {
                        LOG.warn(
                                "event=sealed_log_unavailable partition={} reason=\"{}\"",
                                partition.id(),
                                failure.getMessage());
                    }
                    loaded.complete(
                            failure == null
                                    ? Optional.of(new SealedLog(context, loop, partition, state, endOffset))
                                    : Optional.empty());
                }));
        return loaded;
    }
}
