package io.varve.serving.request.data;

import io.varve.serving.request.PartitionFinder.TopicKey;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;

/**
 * Keeps appends to one partition in the order in which they came when one of them has to wait before it can be handed to the log: for a
 * takeover, or for the transaction's coordinator. Those behind it wait too; a partition for which nobody waits costs one look at a map.
 * Safe for any thread; calls of one thread keep their order.
 */
final class AppendOrder {

    private final ConcurrentHashMap<Place, CompletableFuture<Void>> tails = new ConcurrentHashMap<>();

    /** A partition as the request names it. */
    record Place(TopicKey topic, int partition) {}

    /** Whether an append to {@code place} may go to the log at once. */
    boolean isFree(Place place) {
        return tails.isEmpty() || !tails.containsKey(place);
    }

    /**
     * Runs {@code handOver} once everything before it has been handed over.
     *
     * @param handOver completes when the append is in the log's hands, or won't be
     */
    void queue(Place place, Supplier<CompletableFuture<Void>> handOver) {
        CompletableFuture<Void> mine = new CompletableFuture<>();
        CompletableFuture<Void> before = tails.put(place, mine);
        CompletableFuture<Void> ready = before == null ? CompletableFuture.completedFuture(null) : before;
        ready.thenCompose(ignored -> handOver.get()).whenComplete((done, failure) -> {
            tails.remove(place, mine);
            mine.complete(null);
        });
    }
}
