package io.varve.cli.admin;

import io.varve.base.StartupException;
import io.varve.cli.link.MetadataLink;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.NodeAddress;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import picocli.CommandLine.Option;

/** How a command of an operator finds the cluster. */
final class MetadataOptions {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @Option(
            names = "--metadata",
            paramLabel = "ID@HOST:PORT",
            split = ",",
            defaultValue = "1@127.0.0.1:9190",
            description = "The metadata nodes, with commas (${DEFAULT-VALUE}, the one of varve standalone).")
    private List<String> servers;

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
    MetadataLink connect() {
        return MetadataLink.open(nodes(), patience());
    }

    /** How long the service may take to answer. */
    Duration patience() {
        return Duration.ofMillis(timeoutMs);
    }

    /** The nodes asked. */
    List<NodeAddress> nodes() {
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
