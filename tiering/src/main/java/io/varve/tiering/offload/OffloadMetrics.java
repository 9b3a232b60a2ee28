package io.varve.tiering.offload;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.varve.base.Clock;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.object.StoreException;
import java.util.List;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What the offloader has to do and how it fares. Live also while the store is down. Safe for any thread. */
final class OffloadMetrics {

    /** The local copy is damaged. */
    static final String LOCAL_COPY = "LOCAL_COPY";

    /** The local copy can't be read. */
    static final String LOCAL_DISK = "LOCAL_DISK";

    /** Taken back by the metadata service. */
    static final String WITHDRAWN = "WITHDRAWN";

    /** More wait than may. */
    static final String REJECTED = "REJECTED";

    /** A mistake of the program's. */
    static final String BUG = "BUG";

    private final Clock clock;
    private final MeterRegistry registry;
    private final AtomicLong pendingSegments = new AtomicLong();
    private final AtomicLong pendingBytes = new AtomicLong();
    private final ConcurrentSkipListMap<Long, Long> acceptedNs = new ConcurrentSkipListMap<>();
    private final AtomicLong tickets = new AtomicLong();
    private final Counter rawBytes;
    private final Counter objectBytes;
    private final Timer duration;
    private volatile String lastError = "";

    OffloadMetrics(Clock clock, MeterRegistry registry) {
        this.clock = clock;
        this.registry = registry;
        registry.gauge("varve.tiering.offload.pending.segments", pendingSegments);
        registry.gauge("varve.tiering.offload.pending.bytes", pendingBytes);
        registry.gauge("varve.tiering.offload.oldest.seconds", this, m -> m.oldestMs() / 1000.0);
        rawBytes = registry.counter("varve.tiering.offload.raw.bytes");
        objectBytes = registry.counter("varve.tiering.offload.object.bytes");
        duration = registry.timer("varve.tiering.offload");
        // All of them from the start: one that appeared with its first failure would have no rise that an alarm could
        // see.
        for (StoreException.Kind kind : StoreException.Kind.values()) {
            failures(kind.name());
        }
        for (RemoteReadException.Kind kind : RemoteReadException.Kind.values()) {
            failures(kind.name());
        }
        for (String kind : List.of(LOCAL_COPY, LOCAL_DISK, WITHDRAWN, REJECTED, BUG)) {
            failures(kind);
        }
    }

    private Counter failures(String kind) {
        return registry.counter("varve.tiering.offload.failures", "kind", kind);
    }

    /** An attempt that was accepted and hasn't ended. */
    record Pending(long ticket, int segments, long bytes, long sinceNs) {}

    Pending begin(int segments, long bytes) {
        Pending pending = new Pending(tickets.incrementAndGet(), segments, bytes, clock.nanoTime());
        pendingSegments.addAndGet(segments);
        pendingBytes.addAndGet(bytes);
        acceptedNs.put(pending.ticket(), pending.sinceNs());
        return pending;
    }

    void succeeded(Pending pending, long raw, long stored) {
        end(pending);
        rawBytes.increment(raw);
        objectBytes.increment(stored);
        duration.record(clock.nanoTime() - pending.sinceNs(), TimeUnit.NANOSECONDS);
    }

    void failed(Pending pending, String kind, String message) {
        end(pending);
        failures(kind).increment();
        lastError = message;
    }

    long pendingSegments() {
        return pendingSegments.get();
    }

    long pendingBytes() {
        return pendingBytes.get();
    }

    long oldestMs() {
        var first = acceptedNs.firstEntry();
        return first == null ? 0 : TimeUnit.NANOSECONDS.toMillis(clock.nanoTime() - first.getValue());
    }

    String lastError() {
        return lastError;
    }

    private void end(Pending pending) {
        pendingSegments.addAndGet(-pending.segments());
        pendingBytes.addAndGet(-pending.bytes());
        acceptedNs.remove(pending.ticket());
    }
}
