package io.varve.bookie.net;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieStatus;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** What the bookie's network side counts. Safe for any thread. */
public final class NetMetrics {

    private final AtomicInteger streams = new AtomicInteger();
    private final Counter malformed;
    private final Map<ReadPriority, DistributionSummary> readBytes = new EnumMap<>(ReadPriority.class);
    private final Map<BookieStatus, Counter> refused = new EnumMap<>(BookieStatus.class);

    public NetMetrics(MeterRegistry registry) {
        Gauge.builder("varve_bookie_append_streams", streams, AtomicInteger::get)
                .description("Append streams open")
                .register(registry);
        malformed = Counter.builder("varve_bookie_malformed_requests")
                .description("Requests that made no sense")
                .register(registry);
        for (ReadPriority priority : ReadPriority.values()) {
            readBytes.put(
                    priority,
                    DistributionSummary.builder("varve_bookie_read_reply_bytes")
                            .description("Bytes of entries in an answer to a read; 0 if it was refused")
                            .tag("priority", priority.name().toLowerCase(Locale.ROOT))
                            .register(registry));
        }
        for (BookieStatus status : BookieStatus.values()) {
            if (status != BookieStatus.OK && status != BookieStatus.NO_ANSWER) {
                refused.put(
                        status,
                        Counter.builder("varve_bookie_append_streams_refused")
                                .description("Append streams ended by the bookie")
                                .tag("status", status.name().toLowerCase(Locale.ROOT))
                                .register(registry));
            }
        }
    }

    void streamOpened() {
        streams.incrementAndGet();
    }

    void streamClosed() {
        streams.decrementAndGet();
    }

    void malformed() {
        malformed.increment();
    }

    void read(ReadPriority priority, int bytes) {
        readBytes.get(priority).record(bytes);
    }

    void refused(BookieStatus status) {
        refused.get(status).increment();
    }
}
