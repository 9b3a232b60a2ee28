package io.varve.bookie.store;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.function.Supplier;

/** The store's meters, {@code varve_bookie_…}. */
final class StoreMetrics {

    final Timer appendLatency;
    final Timer fsyncLatency;
    final DistributionSummary groupOps;
    final DistributionSummary groupBytes;
    final Counter appendedBytes;
    final Counter appendedEntries;
    final Counter readRecentBytes;
    final Counter readJournalBytes;
    final Counter readSettledBytes;
    final Counter settledBytes;
    final Counter scrubbedBytes;
    final Counter fences;

    private final MeterRegistry registry;

    StoreMetrics(MeterRegistry registry) {
        this.registry = registry;
        appendLatency =
                timer("varve.bookie.append.latency", "From handing in a group's first append to its acknowledgement");
        fsyncLatency = timer("varve.bookie.fsync.latency", "Write and fsync of one group");
        groupOps = DistributionSummary.builder("varve.bookie.group.ops")
                .description("Operations made durable by one fsync")
                .publishPercentileHistogram()
                .minimumExpectedValue(1.0)
                .maximumExpectedValue(64e6)
                .register(registry);
        groupBytes = DistributionSummary.builder("varve.bookie.group.bytes")
                .description("Bytes made durable by one fsync")
                .publishPercentileHistogram()
                .minimumExpectedValue(1.0)
                .maximumExpectedValue(64e6)
                .register(registry);
        appendedBytes = counter("varve.bookie.appended.bytes", "Entries appended, with their headers");
        appendedEntries = counter("varve.bookie.appended.entries", "Entries appended");
        readRecentBytes = readCounter("recent");
        readJournalBytes = readCounter("journal");
        readSettledBytes = readCounter("settled");
        settledBytes = counter("varve.bookie.settled.bytes", "Rewritten from the journal into files of their own");
        scrubbedBytes = counter("varve.bookie.scrubbed.bytes", "Read and verified in the background");
        fences = counter("varve.bookie.fences", "Fences raised");
    }

    /** One more piece of trouble of a kind: {@code write}, {@code read}, {@code corrupt}, … */
    void error(String kind) {
        registry.counter("varve.bookie.errors", "kind", kind).increment();
    }

    /** One more append refused. */
    void refused(String status) {
        registry.counter("varve.bookie.appends.refused", "status", status).increment();
    }

    /** A value asked for whenever somebody looks. */
    void gauge(String name, String directory, Supplier<Number> value) {
        Gauge.builder(name, value).tag("directory", directory).register(registry);
    }

    private Timer timer(String name, String description) {
        return Timer.builder(name)
                .description(description)
                .publishPercentileHistogram()
                .minimumExpectedValue(Duration.ofNanos(50_000))
                .maximumExpectedValue(Duration.ofSeconds(10))
                .register(registry);
    }

    private Counter readCounter(String path) {
        return Counter.builder("varve.bookie.read.bytes").tag("path", path).register(registry);
    }

    private Counter counter(String name, String description) {
        return Counter.builder(name).description(description).register(registry);
    }
}
