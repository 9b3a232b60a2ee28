package io.varve.cli.local;

import io.varve.base.StartupException;
import io.varve.cli.metrics.MetricsEndpoint;
import io.varve.cli.role.RoleProcess;
import io.varve.protocol.config.HostPort;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** A whole cluster in one process. */
@Command(
        name = "standalone",
        description =
                "A whole cluster in one process until Ctrl-C: a metadata node, three bookies, a broker, and a directory as object"
                        + " store unless S3 is configured. Keeps its data.")
public final class StandaloneCommand implements Callable<Integer> {

    private static final Duration DRAIN_TIMEOUT = Duration.ofSeconds(60);
    private static final int PORT_MAX = 65_535;
    private static final int INTERNAL_PORTS = 5;

    @Option(names = "--data-dir", defaultValue = "data", description = "Where everything is kept (./${DEFAULT-VALUE}).")
    private Path directory;

    @Option(names = "--port", defaultValue = "9092", description = "For Kafka clients (${DEFAULT-VALUE}).")
    private int port;

    @Option(
            names = "--internal-port",
            defaultValue = "9190",
            description = "The first of five ports of the loopback interface between the nodes (${DEFAULT-VALUE}).")
    private int internalPort;

    @Option(
            names = "--set",
            paramLabel = "KEY=VALUE",
            description = "Sets a key of whichever roles have it, such as tiering.store=s3. May be given many times.")
    private Map<String, String> overrides = new TreeMap<>();

    @Option(
            names = "--metrics-port",
            description =
                    "Where Prometheus can read the broker's metrics, on the loopback interface; by default nowhere.")
    private Integer metricsPort;

    @Option(names = "--while-input-open", description = "Stops, too, when the standard input ends.")
    private boolean whileInputOpen;

    @Override
    public Integer call() throws Exception {
        checkPort("--port", port, 1);
        checkPort("--internal-port", internalPort, INTERNAL_PORTS);
        ClusterLayout layout = new ClusterLayout(
                directory,
                List.of(internalPort),
                List.of(internalPort + 1),
                List.of(internalPort + 2, internalPort + 3, internalPort + 4),
                List.of(port));
        MetricsEndpoint metrics =
                MetricsEndpoint.start(Optional.ofNullable(metricsPort).map(free -> new HostPort("127.0.0.1", free)));
        RoleProcess.run(
                "standalone",
                DRAIN_TIMEOUT,
                () -> LocalCluster.start(layout, true, overrides, metrics.registry()),
                () -> System.out.println("Varve is ready on localhost:" + port + ". Data in " + layout.directory()
                        + ". Ctrl-C stops it."),
                whileInputOpen);
        return 0;
    }

    /** Said before anything is started or written. */
    private static void checkPort(String option, int first, int count) {
        int last = PORT_MAX - count + 1;
        if (first < 1 || first > last) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG, option + " " + first + " is not from 1 to " + last);
        }
    }
}
