package io.varve.serving.request;

import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import java.util.concurrent.CompletableFuture;

/**
 * Linearizable views for all who ask at once: a broker that is asked for something it has never heard of looks again before it says so, and
 * a topic just created through another broker is there (P31 of the user reports). However many ask, at most one read is under way and one
 * waits: a read that began before the question doesn't count as its answer. Safe for any thread.
 */
public final class FreshViews {

    private static final long WAIT_MS_MAX = 1_000;

    private final MetadataClient metadata;
    private final Deadlines deadlines;
    private CompletableFuture<MetadataView> running;
    private CompletableFuture<MetadataView> next;

    /** @param metadata whom to ask */
    public FreshViews(MetadataClient metadata, Deadlines deadlines) {
        this.metadata = metadata;
        this.deadlines = deadlines;
    }

    /**
     * A view that holds everything that anybody was told of before this call, or the one we have if the service doesn't answer within a second:
     * clients are served on without it.
     */
    public CompletableFuture<MetadataView> get() {
        return deadlines.within(WAIT_MS_MAX, ask(), metadata::view);
    }

    private CompletableFuture<MetadataView> ask() {
        CompletableFuture<MetadataView> mine = new CompletableFuture<>();
        synchronized (this) {
            if (running != null) {
                if (next == null) {
                    next = mine;
                }
                return next;
            }
            running = mine;
        }
        start(mine);
        return mine;
    }

    private void start(CompletableFuture<MetadataView> answer) {
        metadata.linearizable().whenComplete((view, failure) -> {
            onRead();
            answer.complete(view != null ? view : metadata.view());
        });
    }

    private void onRead() {
        CompletableFuture<MetadataView> begun;
        synchronized (this) {
            begun = next;
            running = begun;
            next = null;
        }
        if (begun != null) {
            start(begun);
        }
    }
}
