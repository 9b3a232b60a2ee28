package io.varve.itest.cluster;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.local.ClusterLayout;
import io.varve.cli.process.ChildProcess;
import io.varve.metadata.client.MetadataStatus;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.protocol.config.NodeAddress;
import io.varve.testing.TestPorts;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** Metadata nodes alone, each in a process of its own, of which any may believe in any set of members. Used by one thread. */
final class MetadataProcesses implements AutoCloseable {

    private static final int NODES_MAX = 5;

    private final Path directory;
    private final ClusterLayout layout;
    private final SortedMap<Integer, ChildProcess> processes = new TreeMap<>();
    private final List<MetadataLink> links = new ArrayList<>();
    private final SortedMap<String, String> overrides = new TreeMap<>();

    MetadataProcesses(Path directory) {
        this.directory = directory;
        this.layout = ClusterLayout.of(directory, NODES_MAX, 0, 0, TestPorts.own());
    }

    /** Sets a key of all nodes that start from now on. */
    MetadataProcesses with(String key, String value) {
        overrides.put(key, value);
        return this;
    }

    /** Starts a node that is configured with {@code among}, without waiting for it. */
    ChildProcess launch(int id, List<Integer> among) throws IOException {
        ChildProcess process = ProcessCluster.launch(
                "metadata", "metadata", config(id, among), overrides, directory.resolve("metadata-" + id + ".log"));
        processes.put(id, process);
        return process;
    }

    /** Starts nodes that are configured with one another, and waits until they serve. */
    MetadataProcesses start(Integer... ids) throws IOException {
        for (int id : ids) {
            launch(id, List.of(ids));
        }
        processes.values().forEach(ProcessCluster::awaitReady);
        return this;
    }

    private SortedMap<String, String> config(int id, List<Integer> among) {
        SortedMap<String, String> config = layout.metadata(id);
        config.put("metadata.servers", servers(among));
        config.put(
                "metadata.raft.servers",
                among.stream()
                        .map(node -> node + "@127.0.0.1:" + raftPort(node))
                        .collect(Collectors.joining(",")));
        return config;
    }

    /** {@code metadata.servers} of these nodes. */
    String servers(List<Integer> ids) {
        return nodes(ids).stream().map(NodeAddress::toString).collect(Collectors.joining(","));
    }

    /** All that could be. */
    String servers() {
        return servers(IntStream.rangeClosed(1, NODES_MAX).boxed().toList());
    }

    private List<NodeAddress> nodes(List<Integer> ids) {
        return layout.metadataNodes().stream()
                .filter(node -> ids.contains(node.id()))
                .toList();
    }

    /** The port of a node for the others. */
    int raftPort(int id) {
        return layout.raftPorts().get(id - 1);
    }

    /** Where a node keeps its data. */
    Path directoryOf(int id) {
        return Path.of(layout.metadata(id).get("metadata.data.dir"));
    }

    /** A node's process. */
    ChildProcess process(int id) {
        return processes.get(id);
    }

    /** A client of these nodes, closed with this. */
    RemoteMetadataClient client(Integer... ids) {
        MetadataLink link = MetadataLink.open(nodes(List.of(ids)), Duration.ofMinutes(1));
        links.add(link);
        return link.client();
    }

    /** How the leader of these nodes says that the service stands. */
    static MetadataStatus status(RemoteMetadataClient client) {
        MetadataStatus[] status = {null};
        Await.until("a leader that answers", Duration.ofMinutes(1), () -> {
            try {
                status[0] = client.status().get(5, TimeUnit.SECONDS);
                return true;
            } catch (Exception leaderless) {
                return false;
            }
        });
        return status[0];
    }

    @Override
    public void close() {
        links.forEach(MetadataLink::close);
        processes.values().forEach(ChildProcess::killWithoutWaiting);
        processes.values().forEach(ChildProcess::kill);
    }
}
