package io.varve.cli.local;

import io.varve.protocol.config.NodeAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.IntSupplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Which node of a cluster on one machine listens where and keeps what in which directory. Ids go from 1. Immutable.
 *
 * @param directory everything lies below it
 * @param metadataPorts for clients, of each metadata node
 * @param raftPorts for the other metadata nodes
 * @param bookiePorts of each bookie
 * @param brokerPorts of each broker
 */
public record ClusterLayout(
        Path directory,
        List<Integer> metadataPorts,
        List<Integer> raftPorts,
        List<Integer> bookiePorts,
        List<Integer> brokerPorts) {

    private static final String HOST = "127.0.0.1";

    /** Three bookies share this machine's disk: their journals and reserves are smaller than they would be on disks of their own. */
    private static final long JOURNAL_FILE_BYTES = 64L * 1024 * 1024;

    private static final long DISK_RESERVE_BYTES = 256L * 1024 * 1024;

    public ClusterLayout {
        directory = directory.toAbsolutePath().normalize();
        metadataPorts = List.copyOf(metadataPorts);
        raftPorts = List.copyOf(raftPorts);
        bookiePorts = List.copyOf(bookiePorts);
        brokerPorts = List.copyOf(brokerPorts);
    }

    /** A layout with so many nodes of each role, on the ports that {@code ports} gives. */
    public static ClusterLayout of(Path directory, int metadata, int bookies, int brokers, IntSupplier ports) {
        return new ClusterLayout(
                directory, take(metadata, ports), take(metadata, ports), take(bookies, ports), take(brokers, ports));
    }

    private static List<Integer> take(int count, IntSupplier ports) {
        List<Integer> taken = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            taken.add(ports.getAsInt());
        }
        return taken;
    }

    /** {@code metadata.servers} of everybody: {@code id@host:port}. */
    public String metadataServers() {
        return metadataNodes().stream().map(NodeAddress::toString).collect(Collectors.joining(","));
    }

    /** The metadata nodes, for clients of theirs. */
    public List<NodeAddress> metadataNodes() {
        return IntStream.rangeClosed(1, metadataPorts.size())
                .mapToObj(id -> new NodeAddress(id, HOST, metadataPorts.get(id - 1)))
                .toList();
    }

    /** {@code bootstrap.servers} of clients. */
    public String bootstrap() {
        return brokerPorts.stream().map(port -> HOST + ":" + port).collect(Collectors.joining(","));
    }

    /** {@code bootstrap.servers} of a client that is to ask one broker. */
    public String bootstrap(int broker) {
        return HOST + ":" + brokerPorts.get(broker - 1);
    }

    /** Configuration of a metadata node. */
    public SortedMap<String, String> metadata(int id) {
        SortedMap<String, String> config = new TreeMap<>();
        config.put("metadata.node.id", Integer.toString(id));
        config.put("metadata.data.dir", directory.resolve("metadata-" + id).toString());
        config.put("metadata.servers", metadataServers());
        config.put("metadata.listen.host", HOST);
        config.put(
                "metadata.raft.servers",
                IntStream.rangeClosed(1, raftPorts.size())
                        .mapToObj(node -> node + "@" + HOST + ":" + raftPorts.get(node - 1))
                        .collect(Collectors.joining(",")));
        return config;
    }

    /** Configuration of a bookie. */
    public SortedMap<String, String> bookie(int id) {
        SortedMap<String, String> config = tiered();
        config.put("bookie.id", Integer.toString(id));
        config.put("bookie.data.dirs", directory.resolve("bookie-" + id).toString());
        config.put("bookie.listener", HOST + ":" + bookiePorts.get(id - 1));
        config.put("bookie.journal.file.bytes", Long.toString(JOURNAL_FILE_BYTES));
        config.put("bookie.disk.reserve.bytes", Long.toString(DISK_RESERVE_BYTES));
        config.put("bookie.disk.relieve.bytes", Long.toString(2 * DISK_RESERVE_BYTES));
        return config;
    }

    /** Configuration of a broker. */
    public SortedMap<String, String> broker(int id) {
        SortedMap<String, String> config = tiered();
        config.put("node.id", Integer.toString(id));
        config.put("listeners", "PLAINTEXT://" + HOST + ":" + brokerPorts.get(id - 1));
        // On one machine nobody else is about to join: Kafka's three seconds would be all that a first reader notices.
        config.put("group.initial.rebalance.delay.ms", "0");
        return config;
    }

    /** Where the local-directory object store keeps its objects. */
    public Path bucket() {
        return directory.resolve("bucket");
    }

    private SortedMap<String, String> tiered() {
        SortedMap<String, String> config = new TreeMap<>();
        config.put("metadata.servers", metadataServers());
        config.put("tiering.store", "local");
        config.put("tiering.local.dir", bucket().toString());
        return config;
    }
}
