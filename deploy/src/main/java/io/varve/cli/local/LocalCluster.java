package io.varve.cli.local;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.StartupException;
import io.varve.cli.link.MetadataLink;
import io.varve.cli.role.Role;
import io.varve.cli.role.RunningNode;
import io.varve.metadata.api.MetadataClient;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/**
 * A cluster in this process: the same nodes as in processes of their own, talking to each other over the loopback interface. Used by one
 * thread.
 */
public final class LocalCluster implements RunningNode {

    private static final Duration METADATA_PATIENCE = Duration.ofSeconds(30);

    private final ClusterLayout layout;
    private final Map<String, String> overrides;
    private final MeterRegistry brokerRegistry;
    private final CompletableFuture<String> stopped = new CompletableFuture<>();
    private final Deque<RunningNode> nodes = new ArrayDeque<>();
    private MetadataLink metadata;

    private LocalCluster(ClusterLayout layout, Map<String, String> overrides, MeterRegistry brokerRegistry) {
        this.layout = layout;
        this.overrides = overrides;
        this.brokerRegistry = brokerRegistry;
    }

    /**
     * Starts the metadata nodes and bookies of a layout, and its brokers if they are to run here, too.
     *
     * @param overrides keys for every role that has them
     * @param brokerRegistry takes the brokers' meters; those of the other nodes, which would have the same names, go nowhere
     * @throws StartupException if a node can't start, after those before it were stopped; BAD_CONFIG if no role has a key
     */
    public static LocalCluster start(
            ClusterLayout layout, boolean withBrokers, Map<String, String> overrides, MeterRegistry brokerRegistry) {
        overrides.keySet().forEach(LocalCluster::checkKnown);
        LocalCluster cluster = new LocalCluster(layout, new TreeMap<>(overrides), brokerRegistry);
        try {
            cluster.startNodes(withBrokers);
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
        return cluster;
    }

    private static void checkKnown(String name) {
        Optional<String> nearest = Optional.empty();
        for (Role role : Role.values()) {
            if (role.hasKey(name)) {
                return;
            }
            nearest = nearest.isPresent() ? nearest : role.schema().nearest(name);
        }
        throw new StartupException(
                StartupException.Reason.BAD_CONFIG,
                "No role has a key " + name
                        + nearest.map(near -> ": did you mean " + near + "?").orElse(""));
    }

    private void startNodes(boolean withBrokers) {
        for (int id = 1; id <= layout.metadataPorts().size(); id++) {
            start(Role.METADATA, layout.metadata(id));
        }
        metadata = MetadataLink.open(layout.metadataNodes(), METADATA_PATIENCE);
        for (int id = 1; id <= layout.bookiePorts().size(); id++) {
            start(Role.BOOKIE, layout.bookie(id));
        }
        if (withBrokers) {
            for (int id = 1; id <= layout.brokerPorts().size(); id++) {
                start(Role.BROKER, layout.broker(id));
            }
        }
    }

    private void start(Role role, SortedMap<String, String> config) {
        overrides.forEach((key, value) -> {
            if (role.hasKey(key)) {
                config.put(key, value);
            }
        });
        RunningNode node = role.start(
                role.schema().check("the command line", Map.of(), System.getenv(), config),
                role == Role.BROKER ? brokerRegistry : new SimpleMeterRegistry());
        node.stopped().thenAccept(reason -> stopped.complete(role + ": " + reason));
        nodes.push(node);
    }

    /** The cluster's metadata. Closed with the cluster. */
    public MetadataClient metadata() {
        return metadata.client();
    }

    @Override
    public CompletableFuture<String> stopped() {
        return stopped;
    }

    /** Drains and stops the nodes, the brokers first and the metadata nodes last. */
    @Override
    public void close() {
        if (metadata != null) {
            metadata.close();
        }
        RuntimeException failure = null;
        while (!nodes.isEmpty()) {
            try {
                nodes.pop().close();
            } catch (RuntimeException e) {
                failure = failure == null ? e : failure;
            }
        }
        if (failure != null) {
            throw failure;
        }
    }
}
