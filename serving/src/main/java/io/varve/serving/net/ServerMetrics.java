package io.varve.serving.net;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.util.EnumMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.common.protocol.ApiKeys;

/** What the Kafka server counts, as {@code varve_broker_…}. Safe for any thread. */
final class ServerMetrics {

    private final EnumMap<ApiKeys, Timer> requests = new EnumMap<>(ApiKeys.class);
    private final Counter bytesIn;
    private final Counter bytesOut;
    private final Counter refused;

    ServerMetrics(MeterRegistry registry, AtomicInteger connections, RequestMemory memory) {
        for (ApiKeys api : ApiKeys.brokerApis()) {
            requests.put(
                    api,
                    Timer.builder("varve.broker.request")
                            .description("From the request's last byte to its answer being complete.")
                            .tag("api", api.name)
                            .register(registry));
        }
        bytesIn = Counter.builder("varve.broker.in.bytes")
                .description("Request bytes read.")
                .register(registry);
        bytesOut = Counter.builder("varve.broker.out.bytes")
                .description("Answer bytes written.")
                .register(registry);
        refused = Counter.builder("varve.broker.connections.refused")
                .description("Connections closed because of what they sent, or because there were too many.")
                .register(registry);
        registry.gauge("varve.broker.connections", connections);
        registry.gauge("varve.broker.request.memory.bytes", memory, RequestMemory::used);
        registry.gauge("varve.broker.request.memory.waiters", memory, RequestMemory::waiters);
    }

    void onRequest(ApiKeys api, long ns) {
        Timer timer = requests.get(api);
        if (timer != null) {
            timer.record(ns, TimeUnit.NANOSECONDS);
        }
    }

    void onBytesIn(int bytes) {
        bytesIn.increment(bytes);
    }

    void onBytesOut(int bytes) {
        bytesOut.increment(bytes);
    }

    void onRefused() {
        refused.increment();
    }
}
