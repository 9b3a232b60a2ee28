package io.varve.cli.metrics;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.varve.base.StartupException;
import io.varve.protocol.config.HostPort;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * The process's meters, and {@code GET /metrics} in Prometheus' text form for whoever wants to read them. One thread of its own; a slow
 * reader delays other readers only. Has nothing but the numbers of this process to tell, and asks nobody who they are: bind it where that
 * is fine.
 */
public final class MetricsEndpoint implements AutoCloseable {

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final JvmGcMetrics gc = new JvmGcMetrics();
    private final Optional<HttpServer> server;
    private final ExecutorService thread = Executors.newSingleThreadExecutor(task -> {
        Thread made = new Thread(task, "varve-metrics");
        made.setDaemon(true);
        return made;
    });

    private MetricsEndpoint(Optional<HttpServer> server) {
        this.server = server;
        new JvmMemoryMetrics().bindTo(registry);
        new JvmThreadMetrics().bindTo(registry);
        new ProcessorMetrics().bindTo(registry);
        gc.bindTo(registry);
    }

    /**
     * Starts to answer.
     *
     * @param listener where; empty for meters that nobody reads
     * @throws StartupException PORT_TAKEN
     */
    public static MetricsEndpoint start(Optional<HostPort> listener) {
        MetricsEndpoint endpoint = new MetricsEndpoint(listener.map(MetricsEndpoint::bind));
        endpoint.server.ifPresent(server -> {
            server.createContext("/metrics", endpoint::answer);
            server.setExecutor(endpoint.thread);
            server.start();
        });
        return endpoint;
    }

    private static HttpServer bind(HostPort listener) {
        try {
            return HttpServer.create(new InetSocketAddress(listener.host(), listener.port()), 16);
        } catch (IOException e) {
            throw new StartupException(
                    StartupException.Reason.PORT_TAKEN,
                    "Can't listen on " + listener + " for metrics: " + e.getMessage(),
                    e);
        }
    }

    private void answer(HttpExchange exchange) throws IOException {
        byte[] body = registry.scrape().getBytes(StandardCharsets.UTF_8);
        exchange.getResponseHeaders().set("Content-Type", "text/plain; version=0.0.4; charset=utf-8");
        exchange.sendResponseHeaders(200, body.length);
        try (OutputStream out = exchange.getResponseBody()) {
            out.write(body);
        }
    }

    /** Where this process's meters are registered. */
    public PrometheusMeterRegistry registry() {
        return registry;
    }

    /** The port it listens on, 0 if it doesn't. */
    public int port() {
        return server.map(bound -> bound.getAddress().getPort()).orElse(0);
    }

    @Override
    public void close() {
        server.ifPresent(bound -> bound.stop(0));
        thread.shutdownNow();
        gc.close();
        registry.close();
    }
}
