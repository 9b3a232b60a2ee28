package io.varve.serving.kafka.metadata;

import io.varve.base.FaultHandler;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Feeds coordinators with metadata on a thread of its own: Kafka's group coordinator waits for quorum writes in there when a topic was
 * deleted, and the thread that brings metadata, or acknowledgements, must never wait for that. Versions that come in meanwhile are folded
 * into one.
 */
public final class MetadataFeed implements MetadataListener, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(MetadataFeed.class);
    private static final long CLOSE_WAIT_MS = 5_000;

    private final MetadataClient metadata;
    private final List<Sink> sinks;
    private final FaultHandler faults;
    private final AtomicReference<MetadataView> pending = new AtomicReference<>();
    private final ExecutorService thread;

    /** Takes each new view, on the feed's thread. May block. */
    @FunctionalInterface
    public interface Sink {
        /** @param view newer than the one before */
        void onView(MetadataView view);
    }

    /** Begins to feed. */
    public MetadataFeed(MetadataClient metadata, List<Sink> sinks, FaultHandler faults) {
        this.metadata = metadata;
        this.sinks = List.copyOf(sinks);
        this.faults = faults;
        this.thread = Executors.newSingleThreadExecutor(task -> {
            Thread created = new Thread(task, "varve-coordinator-metadata");
            created.setDaemon(true);
            return created;
        });
        metadata.subscribe(this);
    }

    @Override
    public void onChange(MetadataView before, MetadataView after, MetadataDelta delta) {
        boolean matters =
                delta.everything() || delta.configs() || !delta.topics().isEmpty();
        if (matters && pending.getAndSet(after) == null) {
            try {
                thread.execute(this::feed);
            } catch (RejectedExecutionException e) {
                LOG.debug("event=metadata_feed_closed version={}", after.version());
            }
        }
    }

    private void feed() {
        MetadataView view = pending.getAndSet(null);
        for (Sink sink : sinks) {
            try {
                sink.onView(view);
            } catch (RuntimeException e) {
                LOG.error("event=metadata_feed_failed version={}", view.version(), e);
            } catch (Error e) {
                faults.onFault("feeding metadata to a coordinator", e);
                return;
            }
        }
    }

    @Override
    public void close() {
        metadata.unsubscribe(this);
        thread.shutdownNow();
        try {
            if (!thread.awaitTermination(CLOSE_WAIT_MS, TimeUnit.MILLISECONDS)) {
                LOG.warn("event=metadata_feed_hangs waited_ms={}", CLOSE_WAIT_MS);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
