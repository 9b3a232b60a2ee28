package io.varve.serving.request;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.serving.log.PartitionLog;
import io.varve.serving.log.PartitionLogs;
import java.util.Collection;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;

/**
 * From what a request names to the log that serves it. At once where the log is here; else it looks again before it says no: at newer metadata
 * if it has never heard of the topic, and for a short while if this broker is about to serve the partition. Safe for any thread.
 */
public final class PartitionFinder {

    private final int brokerId;
    private final MetadataClient metadata;
    private final PartitionLogs logs;
    private final FreshViews views;
    private final Deadlines deadlines;
    private final ConcurrentHashMap<PartitionId, Collection<CompletableFuture<Found>>> arriving =
            new ConcurrentHashMap<>();

    /** @param brokerId this broker's */
    public PartitionFinder(
            int brokerId, MetadataClient metadata, PartitionLogs logs, FreshViews views, Deadlines deadlines) {
        this.brokerId = brokerId;
        this.metadata = metadata;
        this.logs = logs;
        this.views = views;
        this.deadlines = deadlines;
        logs.subscribe(new Arrivals());
    }

    /**
     * What was found.
     *
     * @param error NONE, or what to tell the client
     * @param topic the topic, if there is one
     * @param log the log, if it is served here
     * @param arriving whether it is about to be
     */
    public record Found(Errors error, Optional<Topic> topic, Optional<PartitionLog> log, boolean arriving) {

        private static Found missing(Errors error, Optional<Topic> topic) {
            return new Found(error, topic, Optional.empty(), false);
        }

        private static Found elsewhere(Topic topic, boolean arriving) {
            return new Found(Errors.NOT_LEADER_OR_FOLLOWER, Optional.of(topic), Optional.empty(), arriving);
        }

        private static Found here(Optional<Topic> topic, PartitionLog log) {
            return new Found(Errors.NONE, topic, Optional.of(log), false);
        }
    }

    /** How a request names a topic: by its id from some version on, by name before. */
    public record TopicKey(String name, Uuid id) {

        /** By name. */
        public static TopicKey of(String name) {
            return new TopicKey(name, Uuid.ZERO_UUID);
        }

        /** Whether the id counts. */
        public boolean byId() {
            return !Uuid.ZERO_UUID.equals(id);
        }

        /** Looks it up. */
        public Optional<Topic> in(MetadataView view) {
            return byId() ? view.topic(Ids.fromKafka(id)) : view.topic(name);
        }

        /** What to say if there is none. */
        public Errors unknown() {
            return byId() ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION;
        }
    }

    /** The log if it is served here, or why not, as far as is known now. Never waits. */
    public Found now(TopicKey key, int partition) {
        return in(metadata.view(), key, partition);
    }

    /**
     * As {@link #now}, but looks again where that can help.
     *
     * @param waitMs how long at most for a takeover to finish
     */
    public CompletableFuture<Found> find(TopicKey key, int partition, long waitMs) {
        Found found = now(key, partition);
        if (found.error() == Errors.NONE) {
            return CompletableFuture.completedFuture(found);
        }
        return views.get().thenCompose(view -> awaitArrival(in(view, key, partition), partition, waitMs));
    }

    /** Newer metadata than we may have. */
    public FreshViews views() {
        return views;
    }

    private Found in(MetadataView view, TopicKey key, int partition) {
        Optional<Topic> topic = key.in(view);
        if (topic.isEmpty()) {
            return Found.missing(key.unknown(), topic);
        }
        if (partition < 0 || partition >= topic.get().partitions()) {
            return Found.missing(Errors.UNKNOWN_TOPIC_OR_PARTITION, topic);
        }
        PartitionId id = new PartitionId(topic.get().id(), partition);
        PartitionLogs.Lookup lookup = logs.find(id);
        if (lookup instanceof PartitionLogs.Lookup.Served served) {
            return Found.here(topic, served.log());
        }
        return Found.elsewhere(topic.get(), lookup instanceof PartitionLogs.Lookup.TakingOver);
    }

    /** Waits while this broker is the owner but doesn't serve yet. */
    private CompletableFuture<Found> awaitArrival(Found found, int partition, long waitMs) {
        if (found.error() != Errors.NOT_LEADER_OR_FOLLOWER || waitMs <= 0) {
            return CompletableFuture.completedFuture(found);
        }
        Topic topic = found.topic().orElseThrow();
        PartitionId id = new PartitionId(topic.id(), partition);
        int owner = metadata.view().partition(id).map(PartitionState::owner).orElse(PartitionState.NO_OWNER);
        // Without an owner there will be one in a moment, and it may be us.
        if (owner != brokerId && owner != PartitionState.NO_OWNER) {
            return CompletableFuture.completedFuture(found);
        }
        CompletableFuture<Found> arrival = new CompletableFuture<>();
        arriving.compute(id, (ignored, waiting) -> {
            Collection<CompletableFuture<Found>> all = waiting == null ? new ConcurrentLinkedQueue<>() : waiting;
            all.add(arrival);
            return all;
        });
        // It may have come between the look and the registration.
        if (logs.find(id) instanceof PartitionLogs.Lookup.Served served) {
            arrival.complete(Found.here(found.topic(), served.log()));
        }
        CompletableFuture<Found> bounded = deadlines.within(waitMs, arrival, () -> Found.elsewhere(topic, false));
        bounded.whenComplete((done, failure) -> forget(id, arrival));
        return bounded;
    }

    private void forget(PartitionId id, CompletableFuture<Found> arrival) {
        arriving.computeIfPresent(id, (ignored, waiting) -> {
            waiting.remove(arrival);
            return waiting.isEmpty() ? null : waiting;
        });
    }

    private void onServing(PartitionLog log) {
        Collection<CompletableFuture<Found>> waiting = arriving.remove(log.id());
        if (waiting != null) {
            Optional<Topic> topic = topicOf(log.id().topic());
            Found found = topic.isPresent()
                    ? Found.here(topic, log)
                    : Found.missing(Errors.UNKNOWN_TOPIC_OR_PARTITION, topic);
            waiting.forEach(arrival -> arrival.complete(found));
        }
    }

    private Optional<Topic> topicOf(TopicId id) {
        return metadata.view().topic(id);
    }

    private final class Arrivals implements PartitionLogs.OwnershipListener {
        @Override
        public void onServing(PartitionLog log) {
            PartitionFinder.this.onServing(log);
        }

        @Override
        public void onLost(PartitionId partition, int epoch) {
            // Whoever waits for it goes on waiting: it may come back, and the wait is bounded.
        }
    }
}
