package io.varve.bookie.offload;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.TopicConfigs;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * How much of what this bookie holds belongs into object storage and isn't there, for its metrics. Told by the metadata and not by uploads, so that it rises while the store is down and nothing is
 * being tried (S24). Counted when somebody asks, at most every few seconds. Safe for any thread.
 */
public final class OffloadBacklog {

    private static final long KEPT_NS = TimeUnit.SECONDS.toNanos(5);

    private final BookieId self;
    private final Supplier<MetadataView> view;
    private final Clock clock;
    private Count last;
    private long countedNs;

    /** @param view the newest that is known */
    public OffloadBacklog(BookieId self, Supplier<MetadataView> view, Clock clock) {
        this.self = self;
        this.view = view;
        this.clock = clock;
    }

    /**
     * What waits.
     *
     * @param oldestMs since the oldest of it was sealed; 0 if nothing waits
     */
    public record Count(long segments, long bytes, long oldestMs) {}

    /** Registers the gauges. */
    public void meter(MeterRegistry registry) {
        Gauge.builder(
                        "varve_bookie_offload_backlog_segments",
                        this,
                        backlog -> backlog.count().segments())
                .description("Sealed segments here that belong into object storage and are not there")
                .register(registry);
        Gauge.builder(
                        "varve_bookie_offload_backlog_bytes",
                        this,
                        backlog -> backlog.count().bytes())
                .description("Their bytes")
                .register(registry);
        Gauge.builder(
                        "varve_bookie_offload_backlog_oldest_ms",
                        this,
                        backlog -> backlog.count().oldestMs())
                .description("Since the oldest of them was sealed")
                .register(registry);
    }

    /** What waits now, or did a few seconds ago. */
    public synchronized Count count() {
        if (last == null || clock.nanoTime() - countedNs > KEPT_NS) {
            last = counted();
            countedNs = clock.nanoTime();
        }
        return last;
    }

    private Count counted() {
        MetadataView now = view.get();
        Map<TopicId, Boolean> tiered = new TreeMap<>();
        long segments = 0;
        long bytes = 0;
        long oldestMs = Long.MAX_VALUE;
        for (SegmentDescriptor segment : now.segmentsOn(self)) {
            boolean waits = segment.state() == SegmentDescriptor.State.SEALED
                    && !segment.isOffloaded()
                    && tiered.computeIfAbsent(segment.partition().topic(), topic -> isTiered(now, topic));
            if (waits) {
                segments++;
                bytes += Math.max(0, segment.bytes());
                oldestMs = Math.min(oldestMs, segment.sealedMs());
            }
        }
        return new Count(segments, bytes, segments == 0 ? 0 : Math.max(0, clock.wallTimeMs() - oldestMs));
    }

    private static boolean isTiered(MetadataView view, TopicId topic) {
        return view.topic(topic)
                .map(found -> TopicConfigs.of(found, view.clusterConfigs()).tiered())
                .orElse(false);
    }
}
