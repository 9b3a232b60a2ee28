package io.varve.serving.kafka.txn;

import io.varve.base.Clock;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.Topic;
import io.varve.serving.core.txn.Txn;
import io.varve.serving.core.txn.TxnDecision;
import io.varve.serving.kafka.metadata.MetadataFeed;
import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.kafka.runtime.CoordinatorFinder;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.runtime.Elections;
import io.varve.serving.kafka.runtime.LogLoader;
import io.varve.serving.kafka.runtime.LogWriter;
import io.varve.serving.kafka.runtime.TenureKeeper;
import io.varve.serving.kafka.txn.TxnShard.Decided;
import io.varve.serving.kafka.txn.TxnShard.Prepared;
import io.varve.serving.log.PartitionLogs;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.metrics.Metrics;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.coordinator.transaction.TransactionCoordinatorRecordSerde;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the transaction coordinator. Like that of groups it starts when its topic is first seen, by the number of partitions that it really
 * has. What is decided is answered, and acted upon by {@link Markers}, once it is durable; after a takeover every decision that was durable
 * but not carried out is carried out.
 *
 * <p>{@link #onView} is called by the metadata feed's thread alone; everything else is safe for any thread.
 */
final class TxnHost implements MetadataFeed.Sink, Elections, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TxnHost.class);

    private static final long RESUME_WAIT_MS = 1_000;

    private final CoordinatorOptions options;
    private final PartitionLogs logs;
    private final ProducerIds producerIds;
    private final ScheduledExecutorService threads;
    private final Clock clock;
    private final Metrics metrics = new Metrics();

    private volatile Running running;
    private volatile Markers markers;
    private volatile boolean closed;

    /** Carries out what was decided. */
    interface Markers {
        /** Writes the markers of {@code txn}, which was just decided, and then calls {@link TxnHost#complete}. */
        void send(int partition, int coordinatorEpoch, Txn txn);

        /** The same for one that was found decided, if that isn't under way or done: whoever looked may have looked before its end. */
        void sendIfLeft(int partition, int coordinatorEpoch, Txn txn);

        /** Completes when nothing is left to be carried out for {@code id} here; at once if nothing is. */
        CompletableFuture<Void> whenDone(String id);

        /** This broker no longer coordinates the partition: what is under way for it is somebody else's now. */
        void drop(int partition);
    }

    private record Running(TxnRuntime runtime, LogWriter writer, int partitions) {}

    TxnHost(
            CoordinatorOptions options,
            PartitionLogs logs,
            ProducerIds producerIds,
            ScheduledExecutorService threads,
            Clock clock) {
        this.options = options;
        this.logs = logs;
        this.producerIds = producerIds;
        this.threads = threads;
        this.clock = clock;
    }

    /** Once, before the first view. */
    void carriedOutBy(Markers carrier) {
        this.markers = carrier;
    }

    @Override
    public void onView(MetadataView view) {
        Optional<Topic> topic = view.topic(InternalTopics.TRANSACTION_STATE);
        if (running == null && topic.isPresent() && !closed) {
            start(topic.get());
        }
    }

    private void start(Topic topic) {
        TenureKeeper keeper = new TenureKeeper(topic.id(), topic.name(), this);
        // A coordinator's own records are not part of any transaction.
        LogWriter writer = new LogWriter(keeper, LogWriter.Verifier.NO_TRANSACTIONS, options.batchBytesMax());
        LogLoader loader = new LogLoader(writer, new TransactionCoordinatorRecordSerde(), threads, clock);
        running = new Running(
                TxnRuntime.start(options, writer, loader, metrics, this::onLoaded), writer, topic.partitions());
        LOG.info("event=transaction_coordinator_started partitions={}", topic.partitions());
        logs.subscribe(keeper);
    }

    private static TopicPartition name(int partition) {
        return new TopicPartition(InternalTopics.TRANSACTION_STATE, partition);
    }

    private int partitionOf(Running present, String id) {
        return CoordinatorFinder.partitionOf(id, present.partitions());
    }

    private static <T> CompletableFuture<T> notAvailable() {
        return CompletableFuture.failedFuture(Errors.COORDINATOR_NOT_AVAILABLE.exception());
    }

    // ---- what is asked of it
    // ---------------------------------------------------------------------------------------------

    /** Decides on {@code id} by {@code rule}, which is given a fresh producer id if it turns out to need one. Answers when durable. */
    CompletableFuture<TxnDecision> decide(
            String what, String id, BiFunction<Optional<Txn>, OptionalLong, TxnDecision> rule) {
        return decide(what, id, rule, OptionalLong.empty())
                .thenCompose(decision -> decision instanceof TxnDecision.NeedsProducerId
                        ? producerIds
                                .next()
                                .exceptionallyCompose(failed -> notAvailable())
                                .thenCompose(fresh -> decide(what, id, rule, OptionalLong.of(fresh)))
                        : CompletableFuture.completedFuture(decision));
    }

    private CompletableFuture<TxnDecision> decide(
            String what, String id, BiFunction<Optional<Txn>, OptionalLong, TxnDecision> rule, OptionalLong freshId) {
        Running present = running;
        if (present == null || closed) {
            return notAvailable();
        }
        int partition = partitionOf(present, id);
        CompletableFuture<Decided> decided = present.runtime()
                .write(what, name(partition), shard -> shard.decide(id, current -> rule.apply(current, freshId)));
        return decided.whenComplete((d, failed) -> {
                    if (failed != null) {
                        resumeAfter(failed, partition);
                        return;
                    }
                    d.decision()
                            .changed()
                            .filter(txn -> txn.status().prepared())
                            .ifPresent(txn -> markers.send(partition, d.coordinatorEpoch(), txn));
                })
                .thenApply(Decided::decision);
    }

    /**
     * Completes when the markers of {@code id}'s decided transaction are written and it is complete, or after {@code waitMs}: the decision
     * stands either way, and is carried out either way.
     */
    CompletableFuture<Void> carriedOut(String id, long waitMs) {
        // A copy: the time-out is this caller's alone.
        return markers.whenDone(id).copy().completeOnTimeout(null, waitMs, TimeUnit.MILLISECONDS);
    }

    /** The durable state of {@code id}. */
    CompletableFuture<Optional<Txn>> read(String id) {
        Running present = running;
        if (present == null || closed) {
            return notAvailable();
        }
        return present.runtime()
                .read("read", name(partitionOf(present, id)), (shard, committed) -> shard.get(id, committed));
    }

    /** The durable states of all ids, by partition. */
    List<CompletableFuture<List<Txn>>> readAll() {
        Running present = running;
        return present == null || closed
                ? List.of()
                : present.runtime().readAll("list", (shard, committed) -> {
                    Collection<Txn> all = shard.all(committed);
                    return List.copyOf(all);
                });
    }

    /** All markers of {@code prepared} are written. */
    CompletableFuture<Boolean> complete(int partition, Txn prepared) {
        Running present = running;
        if (present == null || closed) {
            return notAvailable();
        }
        return present.runtime()
                .write("complete", name(partition), shard -> shard.complete(prepared, clock.wallTimeMs()));
    }

    // ---- what it does by itself
    // ------------------------------------------------------------------------------------------

    private void onLoaded(int partition) {
        resume(partition);
    }

    /** Carries out all that is decided in that partition, once it is durable. What is under way already is not begun twice. */
    private void resume(int partition) {
        Running present = running;
        if (present == null || closed) {
            return;
        }
        present.runtime().write("resume", name(partition), TxnShard::prepared).whenComplete((prepared, failed) -> {
            if (failed == null) {
                carryOut(prepared);
            } else {
                resumeAfter(failed, partition);
            }
        });
    }

    /** A decision whose write was only late may be durable in the end, and then nobody but us will carry it out. */
    private void resumeAfter(Throwable failed, int partition) {
        Errors error = Answers.errorOf(failed);
        if (error != Errors.NOT_COORDINATOR && error != Errors.COORDINATOR_LOAD_IN_PROGRESS && !closed) {
            threads.schedule(() -> resume(partition), RESUME_WAIT_MS, TimeUnit.MILLISECONDS);
        }
    }

    /** Aborts what has been open for too long. */
    void abortLate() {
        Running present = running;
        if (present != null && !closed) {
            present.runtime()
                    .writeAll("time-out", shard -> shard.timeOut(clock.wallTimeMs()))
                    .forEach(aborted -> aborted.thenAccept(prepared -> {
                        prepared.txns()
                                .forEach(txn -> LOG.info(
                                        "event=transaction_timed_out id={} producer={} open_ms={}",
                                        txn.id(),
                                        txn.producerId(),
                                        txn.updateMs() - txn.startMs()));
                        prepared.txns()
                                .forEach(txn ->
                                        markers.send(partitionOf(present, txn.id()), prepared.coordinatorEpoch(), txn));
                    }));
            // What a look before this one decided, without hearing in time that it is durable.
            present.runtime().writeAll("resume", TxnShard::prepared).forEach(p -> p.thenAccept(this::carryOut));
        }
    }

    /** Forgets ids that nothing has happened to for long. */
    void expireIds(long retentionMs) {
        Running present = running;
        if (present != null && !closed) {
            present.runtime().writeAll("expire", shard -> shard.expire(retentionMs, clock.wallTimeMs()));
        }
    }

    private void carryOut(Prepared prepared) {
        Running present = running;
        prepared.txns()
                .forEach(txn -> markers.sendIfLeft(partitionOf(present, txn.id()), prepared.coordinatorEpoch(), txn));
    }

    @Override
    public void onElection(int partition, int tenure) {
        if (!closed) {
            running.runtime().load(name(partition), tenure);
        }
    }

    @Override
    public void onResignation(int partition, int nextTenure) {
        markers.drop(partition);
        if (!closed) {
            running.runtime().unload(name(partition), OptionalInt.of(nextTenure));
        }
    }

    @Override
    public void close() {
        closed = true;
        if (running != null) {
            running.runtime().close();
        }
        metrics.close();
    }
}
