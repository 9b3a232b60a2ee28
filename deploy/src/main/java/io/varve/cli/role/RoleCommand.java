package io.varve.cli.role;

import io.varve.cli.metrics.MetricsEndpoint;
import io.varve.protocol.config.Config;
import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Mixin;

/** Runs one role in this process until it is told to stop. */
abstract class RoleCommand implements Callable<Integer> {

    @Mixin
    private RoleOptions options;

    private final Role role;

    RoleCommand(Role role) {
        this.role = role;
    }

    @Override
    public final Integer call() throws Exception {
        Config config = options.load(role.schema());
        MetricsEndpoint metrics = MetricsEndpoint.start(config.find(ProcessKeys.METRICS_LISTENER));
        RoleProcess.run(
                role.toString(),
                Duration.ofMillis(config.get(ProcessKeys.DRAIN_TIMEOUT_MS)),
                () -> role.start(config, metrics.registry()),
                () -> {},
                options.whileInputOpen());
        return 0;
    }
}
