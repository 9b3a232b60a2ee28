package io.varve.serving.kafka.txn;

import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.ProducerIdBlock;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Hands out producer ids, block by block. One block is asked for at a time, however many wait. Safe for any thread. */
public final class ProducerIds {

    private static final Logger LOG = LoggerFactory.getLogger(ProducerIds.class);

    private final MetadataClient metadata;
    private final Deque<CompletableFuture<Long>> waiting = new ArrayDeque<>();
    private long next;
    private long end;
    private boolean asking;

    public ProducerIds(MetadataClient metadata) {
        this.metadata = metadata;
    }

    /** An id that nobody else was or will be given. Fails if none can be had now. */
    public CompletableFuture<Long> next() {
        CompletableFuture<Long> id = new CompletableFuture<>();
        synchronized (this) {
            if (next < end) {
                return CompletableFuture.completedFuture(next++);
            }
            waiting.add(id);
            if (asking) {
                return id;
            }
            asking = true;
        }
        ask();
        return id;
    }

    private void ask() {
        metadata.allocateProducerIds().whenComplete((block, failed) -> {
            if (failed == null) {
                onBlock(block);
            } else {
                onFailure(failed);
            }
        });
    }

    private void onBlock(ProducerIdBlock block) {
        Deque<CompletableFuture<Long>> served = new ArrayDeque<>();
        Deque<Long> ids = new ArrayDeque<>();
        boolean askAgain;
        synchronized (this) {
            next = block.first();
            end = block.first() + block.count();
            while (next < end && !waiting.isEmpty()) {
                served.add(waiting.poll());
                ids.add(next++);
            }
            askAgain = !waiting.isEmpty();
            asking = askAgain;
        }
        served.forEach(future -> future.complete(ids.poll()));
        if (askAgain) {
            ask();
        }
    }

    private void onFailure(Throwable failed) {
        LOG.warn("event=producer_ids_unavailable reason=\"{}\"", failed.getMessage());
        Deque<CompletableFuture<Long>> refused;
        synchronized (this) {
            refused = new ArrayDeque<>(waiting);
            waiting.clear();
            asking = false;
        }
        refused.forEach(future -> future.completeExceptionally(failed));
    }
}
