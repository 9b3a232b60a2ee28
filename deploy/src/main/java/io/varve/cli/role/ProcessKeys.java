package io.varve.cli.role;

import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.config.HostPort;

/** The keys of the process around a role, the same for every role. */
final class ProcessKeys {

    static final ConfigKey<HostPort> METRICS_LISTENER = ConfigKey.hostPort(
                    "metrics.listener",
                    "Where Prometheus can read this process's metrics, at /metrics. Left out: nowhere.")
            .optional();

    static final ConfigKey<Long> DRAIN_TIMEOUT_MS = ConfigKey.number(
                    "drain.timeout.ms",
                    "How long SIGTERM lets the process drain before it ends all the same, with exit code 1.",
                    0,
                    3_600_000)
            .withDefault("60000");

    private ProcessKeys() {}

    static ConfigSchema addTo(ConfigSchema schema) {
        return schema.with("The process", METRICS_LISTENER, DRAIN_TIMEOUT_MS);
    }
}
