package io.varve.serving.kafka.txn;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.core.txn.Txn;
import io.varve.serving.core.txn.TxnPartition;
import io.varve.serving.core.txn.TxnStatus;
import io.varve.serving.kafka.runtime.Answers;
import io.varve.serving.kafka.runtime.BrokerClient;
import io.varve.serving.log.PartitionLog.Marker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.TransactionResult;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest;
import org.apache.kafka.common.requests.WriteTxnMarkersRequest.TxnMarkerEntry;
import org.apache.kafka.common.requests.WriteTxnMarkersResponse;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Writes the markers of decided transactions to all their partitions, at this broker or at others, again and again until each is written or
 * gone, and then has the transaction completed. A decision is never given up while this broker coordinates it: readers of the partitions
 * wait for its end. Safe for any thread.
 */
final class MarkerSender implements TxnHost.Markers {

    private static final Logger LOG = LoggerFactory.getLogger(MarkerSender.class);
    private static final long RETRY_FIRST_MS = 20;
    private static final long RETRY_LAST_MS = 1_000;

    /** Attempts after which a transaction that doesn't end is worth a line in the log; then at each doubling. */
    private static final int LOUD_ATTEMPT = 16;

    private static final int CARRIED_OUT_MAX = 10_000;

    private final MetadataClient metadata;
    private final int brokerId;
    private final MarkerWriter local;
    private final BrokerClient remote;
    private final ScheduledExecutorService threads;
    private final BiFunction<Integer, Txn, CompletableFuture<Boolean>> completion;
    private final Map<String, Task> tasks = new ConcurrentHashMap<>();

    /**
     * What was carried out lately, the last of each id. A sweep that looked before the end of a transaction hands it in after it; with version 1
     * of transactions the log can't tell such a marker from that of the next one, and would write it.
     */
    private final Map<String, Task> carriedOut = Collections.synchronizedMap(new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Task> eldest) {
            return size() > CARRIED_OUT_MAX;
        }
    });

    /** @param completion of a transaction whose markers are all written, given its partition of the transaction log */
    MarkerSender(
            MetadataClient metadata,
            int brokerId,
            MarkerWriter local,
            BrokerClient remote,
            ScheduledExecutorService threads,
            BiFunction<Integer, Txn, CompletableFuture<Boolean>> completion) {
        this.metadata = metadata;
        this.brokerId = brokerId;
        this.local = local;
        this.remote = remote;
        this.threads = threads;
        this.completion = completion;
    }

    @Override
    public void send(int partition, int coordinatorEpoch, Txn txn) {
        carriedOut.remove(txn.id());
        begin(new Task(partition, coordinatorEpoch, txn));
    }

    @Override
    public void sendIfLeft(int partition, int coordinatorEpoch, Txn txn) {
        Task task = new Task(partition, coordinatorEpoch, txn);
        Task done = carriedOut.get(txn.id());
        if (done == null || !done.isFor(task) || !done.txn.equals(txn)) {
            begin(task);
        }
    }

    private void begin(Task task) {
        Task before = tasks.get(task.txn.id());
        Task present = tasks.compute(task.txn.id(), (id, old) -> old != null && old.isFor(task) ? old : task);
        if (present == task) {
            if (before != null) {
                before.done.complete(null);
            }
            threads.execute(() -> task.step(task::attempt));
        }
    }

    @Override
    public CompletableFuture<Void> whenDone(String id) {
        Task task = tasks.get(id);
        return task == null ? CompletableFuture.completedFuture(null) : task.done;
    }

    @Override
    public void drop(int partition) {
        tasks.values().stream()
                .filter(task -> task.partition == partition)
                .toList()
                .forEach(this::forget);
    }

    private void forget(Task task) {
        tasks.remove(task.txn.id(), task);
        task.done.complete(null);
    }

    /** How many decided transactions wait for their end. */
    int underWay() {
        return tasks.size();
    }

    /** One transaction's markers. Steps follow one another: an attempt, the answers to it, the next attempt. */
    private final class Task {
        private final int partition;
        private final int coordinatorEpoch;
        private final Txn txn;
        private final SortedSet<TxnPartition> remaining;
        private final CompletableFuture<Void> done = new CompletableFuture<>();
        private int attempts;
        private long waitMs = RETRY_FIRST_MS;

        Task(int partition, int coordinatorEpoch, Txn txn) {
            this.partition = partition;
            this.coordinatorEpoch = coordinatorEpoch;
            this.txn = txn;
            this.remaining = new TreeSet<>(txn.partitions());
        }

        boolean isFor(Task other) {
            return partition == other.partition
                    && coordinatorEpoch == other.coordinatorEpoch
                    && txn.producerId() == other.txn.producerId()
                    && txn.epoch() == other.txn.epoch();
        }

        private boolean dropped() {
            return tasks.get(txn.id()) != this;
        }

        /** Whatever goes wrong in a step, the transaction must end: it is tried again. */
        void step(Runnable work) {
            if (dropped()) {
                return;
            }
            try {
                work.run();
            } catch (RuntimeException e) {
                LOG.error("event=marker_step_failed id={} partitions={}", txn.id(), remaining, e);
                again();
            }
        }

        void attempt() {
            attempts++;
            if (remaining.isEmpty()) {
                complete();
                return;
            }
            List<CompletableFuture<SortedMap<TxnPartition, Errors>>> answers = new ArrayList<>();
            byOwner(metadata.view())
                    .forEach((owner, partitions) ->
                            answers.add(owner == brokerId ? writeHere(partitions) : writeAt(owner, partitions)));
            Answers.all(answers).thenAcceptAsync(all -> step(() -> onAnswers(all)), threads);
        }

        private SortedMap<Integer, List<TxnPartition>> byOwner(MetadataView view) {
            SortedMap<Integer, List<TxnPartition>> owned = new TreeMap<>();
            for (TxnPartition p : remaining) {
                int owner = view.topic(p.topic())
                        .flatMap(topic -> view.partition(new PartitionId(topic.id(), p.index())))
                        .map(PartitionState::owner)
                        .orElse(PartitionState.NO_OWNER);
                owned.computeIfAbsent(owner, o -> new ArrayList<>()).add(p);
            }
            return owned;
        }

        private CompletableFuture<SortedMap<TxnPartition, Errors>> writeHere(List<TxnPartition> partitions) {
            Marker marker = new Marker(txn.producerId(), txn.epoch(), coordinatorEpoch, commits(), markerVersion());
            List<CompletableFuture<Map.Entry<TxnPartition, Errors>>> written = new ArrayList<>();
            for (TxnPartition p : partitions) {
                written.add(local.write(p, marker).thenApply(error -> Map.entry(p, error)));
            }
            return Answers.all(written).thenApply(all -> {
                SortedMap<TxnPartition, Errors> errors = new TreeMap<>();
                all.forEach(entry -> errors.put(entry.getKey(), entry.getValue()));
                return errors;
            });
        }

        private CompletableFuture<SortedMap<TxnPartition, Errors>> writeAt(int owner, List<TxnPartition> partitions) {
            if (owner == PartitionState.NO_OWNER) {
                return CompletableFuture.completedFuture(all(partitions, whyNobody(metadata.view(), partitions)));
            }
            List<TopicPartition> names = partitions.stream()
                    .map(p -> new TopicPartition(p.topic(), p.index()))
                    .toList();
            TxnMarkerEntry entry = new TxnMarkerEntry(
                    txn.producerId(),
                    txn.epoch(),
                    coordinatorEpoch,
                    commits() ? TransactionResult.COMMIT : TransactionResult.ABORT,
                    names,
                    markerVersion());
            return remote.send(owner, new WriteTxnMarkersRequest.Builder(List.of(entry)))
                    .handle((response, failed) -> failed != null
                            ? all(partitions, Errors.NETWORK_EXCEPTION)
                            : errorsIn((WriteTxnMarkersResponse) response, partitions));
        }

        private SortedMap<TxnPartition, Errors> errorsIn(
                WriteTxnMarkersResponse response, List<TxnPartition> partitions) {
            Map<TopicPartition, Errors> answered =
                    response.errorsByProducerId().getOrDefault(txn.producerId(), Map.of());
            SortedMap<TxnPartition, Errors> errors = new TreeMap<>();
            for (TxnPartition p : partitions) {
                Errors error = answered.get(new TopicPartition(p.topic(), p.index()));
                errors.put(p, error == null ? Errors.UNKNOWN_SERVER_ERROR : error);
            }
            return errors;
        }

        private boolean commits() {
            return txn.status() == TxnStatus.PREPARE_COMMIT;
        }

        private short markerVersion() {
            return (short) Math.max(1, txn.version());
        }

        private void onAnswers(List<SortedMap<TxnPartition, Errors>> answers) {
            boolean maybeGone = false;
            for (SortedMap<TxnPartition, Errors> part : answers) {
                for (Map.Entry<TxnPartition, Errors> answer : part.entrySet()) {
                    maybeGone |= onAnswer(answer.getKey(), answer.getValue());
                }
            }
            if (dropped()) {
                return;
            }
            if (remaining.isEmpty()) {
                complete();
            } else if (maybeGone) {
                metadata.linearizable()
                        .whenCompleteAsync((view, failed) -> step(() -> onFreshView(view, failed)), threads);
            } else {
                again();
            }
        }

        /** @return whether the partition may not exist any more */
        private boolean onAnswer(TxnPartition p, Errors error) {
            switch (error) {
                case NONE -> remaining.remove(p);
                // The partition has seen this producer's next epoch, so an earlier attempt got through; while this is
                // undecided
                // no other epoch above ours can be in use.
                case INVALID_PRODUCER_EPOCH -> remaining.remove(p);
                case TRANSACTION_COORDINATOR_FENCED -> {
                    LOG.info("event=markers_fenced id={} partition={} epoch={}", txn.id(), p, coordinatorEpoch);
                    forget(this);
                }
                default -> LOG.debug("event=marker_refused id={} partition={} error={}", txn.id(), p, error);
            }
            return error == Errors.UNKNOWN_TOPIC_OR_PARTITION;
        }

        /** Only a fresh view proves that a topic is gone (I-7); then nobody waits for a marker there. */
        private void onFreshView(MetadataView view, Throwable failed) {
            if (failed == null) {
                remaining.removeIf(p -> view.topic(p.topic()).isEmpty());
            }
            again();
        }

        private void complete() {
            completion
                    .apply(partition, txn)
                    .whenCompleteAsync((done, failed) -> step(() -> onCompleted(done, failed)), threads);
        }

        private void onCompleted(Boolean done, Throwable failed) {
            if (failed == null) {
                carriedOut.put(txn.id(), this);
                forget(this);
            } else if (Answers.errorOf(failed) == Errors.NOT_COORDINATOR) {
                forget(this);
            } else {
                again();
            }
        }

        private void again() {
            if (attempts >= LOUD_ATTEMPT && Integer.bitCount(attempts) == 1) {
                LOG.warn("event=markers_not_written id={} partitions={} attempts={}", txn.id(), remaining, attempts);
            }
            try {
                threads.schedule(() -> step(this::attempt), waitMs, TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException e) {
                LOG.debug("event=marker_sender_closed id={}", txn.id());
            }
            waitMs = Math.min(waitMs * 2, RETRY_LAST_MS);
        }
    }

    private static Errors whyNobody(MetadataView view, List<TxnPartition> partitions) {
        Optional<TxnPartition> unknown =
                partitions.stream().filter(p -> view.topic(p.topic()).isEmpty()).findFirst();
        return unknown.isPresent() ? Errors.UNKNOWN_TOPIC_OR_PARTITION : Errors.LEADER_NOT_AVAILABLE;
    }

    private static SortedMap<TxnPartition, Errors> all(List<TxnPartition> partitions, Errors error) {
        SortedMap<TxnPartition, Errors> errors = new TreeMap<>();
        partitions.forEach(p -> errors.put(p, error));
        return errors;
    }
}
