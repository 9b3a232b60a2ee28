package io.varve.serving.partition;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.serving.partition.CompactionRun.Outcome;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;

/** What is to be known of a broker's compaction, as {@code varve_broker_compaction_…}. Written on the compaction's loop, read by any thread. */
final class CompactionMetrics {

    private final Map<Outcome, Counter> passes = new EnumMap<>(Outcome.class);
    private final Counter readBytes;
    private final Counter writtenBytes;
    private final Counter replaced;
    private final Counter left;
    private volatile long dirtyBytes;
    private volatile int paused;
    private volatile double lastPassSeconds;

    CompactionMetrics(MeterRegistry registry) {
        for (Outcome outcome : Outcome.values()) {
            passes.put(
                    outcome,
                    Counter.builder("varve.broker.compaction.passes")
                            .description("Passes over a partition, by how they ended")
                            .tag("outcome", outcome.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
        readBytes = Counter.builder("varve.broker.compaction.read.bytes")
                .description("Read by passes, twice where it was not compacted before")
                .register(registry);
        writtenBytes = Counter.builder("varve.broker.compaction.written.bytes")
                .description("Written by passes, to each replica")
                .register(registry);
        replaced = Counter.builder("varve.broker.compaction.segments.replaced")
                .description("Segments whose place a rewrite took")
                .register(registry);
        left = Counter.builder("varve.broker.compaction.segments.left")
                .description("Segments that a pass read and left as they were, since nothing went from them")
                .register(registry);
        Gauge.builder("varve.broker.compaction.paused.partitions", this, m -> m.paused)
                .description("Partitions that are left alone for a while because their last pass failed")
                .register(registry);
        Gauge.builder("varve.broker.compaction.dirty.bytes", this, m -> m.dirtyBytes)
                .description("Of the sealed segments of compacted topics here: what no pass has looked at")
                .register(registry);
        Gauge.builder("varve.broker.compaction.last.pass.seconds", this, m -> m.lastPassSeconds)
                .description("How long the last pass took")
                .register(registry);
    }

    void onRead(long bytes) {
        readBytes.increment(bytes);
    }

    void onWritten(long bytes) {
        writtenBytes.increment(bytes);
    }

    void onReplaced(int segments) {
        replaced.increment(segments);
    }

    void onLeft() {
        left.increment();
    }

    void onDirty(long bytes) {
        dirtyBytes = bytes;
    }

    void onPaused(int partitions) {
        paused = partitions;
    }

    void onPass(Outcome outcome, double seconds) {
        passes.get(outcome).increment();
        lastPassSeconds = seconds;
    }
}
