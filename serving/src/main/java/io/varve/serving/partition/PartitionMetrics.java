package io.varve.serving.partition;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.micrometer.core.instrument.Timer;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** What is to be known of a broker's partitions, as {@code varve_broker_partition_…}. Gauges are as of the last count, a second ago at most. Safe for any thread. */
final class PartitionMetrics {

    private final Timer takeovers;
    private final Counter appendsUnderReplicated;
    private final MultiGauge lag;
    private final List<PartitionLoop> loops;

    /** @param loops whose partitions are counted; may still grow */
    PartitionMetrics(MeterRegistry registry, AtomicLong pendingBytes, List<PartitionLoop> loops) {
        this.loops = loops;
        this.takeovers = Timer.builder("varve.broker.partition.takeover")
                .description("From learning of an ownership to serving under it")
                .publishPercentileHistogram()
                .register(registry);
        this.appendsUnderReplicated = Counter.builder("varve.broker.partition.appends.underreplicated")
                .description("Entries that were sent to fewer replicas than there should be")
                .register(registry);
        this.lag = MultiGauge.builder("varve.broker.partition.replica.lag.records")
                .description(
                        "How far a bookie's replicas are behind the end of what they are sent; the one furthest behind")
                .register(registry);
        Gauge.builder("varve.broker.partition.owned", this, m -> m.total().owned())
                .description("Partitions that are served here")
                .register(registry);
        Gauge.builder("varve.broker.partition.opening", this, m -> m.total().opening())
                .description("Partitions that are being taken over")
                .register(registry);
        Gauge.builder(
                        "varve.broker.partition.underreplicated",
                        this,
                        m -> m.total().underReplicated())
                .description("Partitions whose open segment is written to fewer replicas than there should be")
                .register(registry);
        Gauge.builder("varve.broker.partition.pending.bytes", pendingBytes, AtomicLong::get)
                .description("Appended and not acknowledged")
                .register(registry);
    }

    void onServing(long tookNs) {
        takeovers.record(tookNs, TimeUnit.NANOSECONDS);
    }

    void onUnderReplicatedAppend() {
        appendsUnderReplicated.increment();
    }

    /** The lags have been counted anew: bookies may have come and gone. */
    void onCounted() {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        total().lagRecords()
                .forEach((bookie, records) ->
                        rows.add(MultiGauge.Row.of(Tags.of("bookie", bookie.toString()), records)));
        lag.register(rows, true);
    }

    private PartitionFigures total() {
        PartitionFigures total = new PartitionFigures(0, 0, 0, new TreeMap<>());
        for (PartitionLoop loop : loops) {
            total = total.plus(loop.figures());
        }
        return total;
    }
}
