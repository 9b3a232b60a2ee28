package io.varve.cli.admin;

import io.varve.base.StartupException;
import io.varve.cli.link.MetadataLink;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.config.NodeAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Option;

/** How a command of an operator finds the cluster: by {@code --metadata}, or by the file and the environment of any of its processes. */
class MetadataOptions {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /** As every role has it. */
    private static final ConfigKey<List<NodeAddress>> SERVERS = ConfigKey.nodes(
                    "metadata.servers", "The nodes of the metadata service: id@host:port with commas.")
            .withDefault("1@127.0.0.1:9190");

    private static final ConfigSchema SCHEMA =
            ConfigSchema.of("operator").keys(SERVERS).build();

    @Option(
            names = "--config",
            paramLabel = "FILE",
            description =
                    "A configuration file of any process of the cluster: what it says of what isn't given otherwise.")
    private Path file;

    @Option(
            names = "--metadata",
            paramLabel = "ID@HOST:PORT",
            split = ",",
            description =
                    "The metadata nodes, with commas. Left out: metadata.servers of the environment or of --config;"
                            + " else 1@127.0.0.1:9190, the one of varve standalone.")
    private List<String> servers = List.of();

    @Option(
            names = "--timeout-ms",
            defaultValue = "5000",
            description = "How long the metadata service may take to answer (${DEFAULT-VALUE}).")
    private long timeoutMs;

    /**
     * A client whose view is as new as any. The caller closes it.
     *
     * @throws StartupException NO_QUORUM
     */
    final MetadataLink connect() {
        return MetadataLink.open(nodes(), patience());
    }

    /**
     * How long the service may take to answer.
     *
     * @throws StartupException BAD_CONFIG if it may not at all
     */
    final Duration patience() {
        if (timeoutMs < 1) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG, "--timeout-ms " + timeoutMs + " is less than 1");
        }
        return Duration.ofMillis(timeoutMs);
    }

    /**
     * The nodes asked.
     *
     * @throws StartupException BAD_CONFIG
     */
    final List<NodeAddress> nodes() {
        if (servers.isEmpty()) {
            return SCHEMA.check(
                            RoleFile.source(file),
                            RoleFile.keys(file, SERVERS.name()::equals),
                            System.getenv(),
                            Map.of())
                    .get(SERVERS);
        }
        List<NodeAddress> nodes = new ArrayList<>();
        for (String server : servers) {
            try {
                nodes.add(NodeAddress.parse(server));
            } catch (ConfigKey.WrongValue e) {
                throw new StartupException(
                        StartupException.Reason.BAD_CONFIG, "--metadata " + server + " " + e.getMessage(), e);
            }
        }
        return nodes;
    }

    /** The configuration file that was named; null if none was. */
    final Path file() {
        return file;
    }

    /** The topic of that name. */
    static Topic topic(MetadataView view, String name) {
        return view.topic(name).orElseThrow(() -> new AdminFailure("there is no topic " + name));
    }

    /** What {@code future} completes with. */
    static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RuntimeException cause) {
                throw cause;
            }
            throw new CompletionException(e.getCause());
        } catch (TimeoutException e) {
            throw new AdminFailure("no answer within " + PATIENCE.toSeconds() + " s");
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AdminFailure("interrupted");
        }
    }
}
