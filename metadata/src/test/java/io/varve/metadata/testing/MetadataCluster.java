package io.varve.metadata.testing;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.metadata.client.MetadataClientOptions;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.net.ServiceSettings;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.metadata.raft.RaftSettings;
import io.varve.metadata.server.MetadataConfig;
import io.varve.metadata.server.MetadataNode;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.testing.TestPorts;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Real metadata nodes with real logs and sockets in this process. */
public final class MetadataCluster implements AutoCloseable {

    private final Path directory;
    private final List<RaftPeerAddress> peers = new ArrayList<>();
    private final SortedMap<Integer, MetadataNode> nodes = new TreeMap<>();
    private final List<RemoteMetadataClient> clients = new CopyOnWriteArrayList<>();
    private final RpcLoops loops = RpcLoops.start("test-rpc", 1);
    private final List<Throwable> faults = new CopyOnWriteArrayList<>();
    private final Map<Integer, Clock> clocks = new TreeMap<>();
    private final Map<Integer, SimpleMeterRegistry> registries = new TreeMap<>();
    private long snapshotEntries = 50_000;
    private long preservedEntries = 10_000;
    private int logSegmentBytes = 8 << 20;

    /** {@code count} nodes below {@code directory}, not started. */
    public MetadataCluster(Path directory, int count) {
        this.directory = directory;
        for (int id = 1; id <= count; id++) {
            peers.add(newPeer(id));
        }
    }

    /** The address of a node that there could be. */
    public static RaftPeerAddress newPeer(int id) {
        TestPorts ports = TestPorts.own();
        return new RaftPeerAddress(id, "127.0.0.1", ports.getAsInt(), ports.getAsInt());
    }

    /** Makes nodes that start from now on write snapshots and purge their logs early. */
    public MetadataCluster withSnapshotEvery(long entries, long preserved) {
        snapshotEntries = entries;
        preservedEntries = preserved;
        logSegmentBytes = 16 << 10;
        return this;
    }

    /** Gives a node that starts from now on a clock of its own. */
    public MetadataCluster withClock(int id, Clock clock) {
        clocks.put(id, clock);
        return this;
    }

    /** A gauge of a node that was started once. */
    public double gauge(int id, String name) {
        return registries.get(id).get(name).gauge().value();
    }

    /** Starts all. */
    public MetadataCluster startAll() {
        peers.forEach(peer -> start(peer.nodeId()));
        return this;
    }

    /** Starts one. */
    public MetadataNode start(int id) {
        return start(id, peers);
    }

    /** Starts one that believes in other peers. */
    public MetadataNode start(int id, List<RaftPeerAddress> among) {
        MetadataNode node = MetadataNode.start(
                config(id, among),
                clocks.getOrDefault(id, SystemClock.INSTANCE),
                SystemRandomness.INSTANCE,
                faultHandler(),
                registries.computeIfAbsent(id, fresh -> new SimpleMeterRegistry()));
        nodes.put(id, node);
        return node;
    }

    /** A node's configuration. */
    public MetadataConfig config(int id, List<RaftPeerAddress> among) {
        Path home = directoryOf(id);
        RaftSettings raft = new RaftSettings(
                id, among, "test", home.resolve("raft"), 300, snapshotEntries, preservedEntries, logSegmentBytes);
        return new MetadataConfig(
                id, home, "127.0.0.1", addresses(among), "test", raft, ServiceSettings.DEFAULT, 20_000);
    }

    /** Where a node's data is. */
    public Path directoryOf(int id) {
        return directory.resolve("node-" + id);
    }

    private FaultHandler faultHandler() {
        return (where, fault) -> faults.add(fault);
    }

    private static List<NodeAddress> addresses(List<RaftPeerAddress> peers) {
        return peers.stream()
                .map(p -> new NodeAddress(p.nodeId(), p.host(), p.clientPort()))
                .toList();
    }

    /** Stops one. */
    public void stop(int id) {
        nodes.remove(id).close();
        registries.remove(id);
    }

    /** The node that leads, if one does. */
    public List<Integer> leaders() {
        return nodes.entrySet().stream()
                .filter(e -> e.getValue().isLeading())
                .map(SortedMap.Entry::getKey)
                .toList();
    }

    /** The running nodes. */
    public SortedMap<Integer, MetadataNode> nodes() {
        return nodes;
    }

    /** The addresses. */
    public List<RaftPeerAddress> peers() {
        return peers;
    }

    /** Broken invariants so far. */
    public List<Throwable> faults() {
        return faults;
    }

    /** A client of all nodes. */
    public RemoteMetadataClient client() {
        RemoteMetadataClient client = RemoteMetadataClient.start(options());
        clients.add(client);
        return client;
    }

    /** How a client would be made. */
    public MetadataClientOptions options() {
        return MetadataClientOptions.of(
                addresses(peers),
                new RpcIdentity(RpcRole.TOOL, RpcIdentity.NO_NODE, SystemRandomness.INSTANCE.nextLong(), ""),
                loops,
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                faultHandler());
    }

    /** Waits until all nodes have the same state. */
    public void awaitAlike() throws TimeoutException {
        await(
                "all nodes to be alike",
                20_000,
                () -> nodes.values().stream()
                                .map(node -> node.raft()
                                        .map(raft -> raft.image().version() + "/"
                                                + raft.image().digest())
                                        .orElse("not yet"))
                                .distinct()
                                .count()
                        == 1);
    }

    /** The last entry of a node's log; -1 while it has none. */
    public long lastOf(int id) {
        return nodes.get(id).raft().map(RaftNode::lastIndex).orElse(-1L);
    }

    /** The first entry of a node's log; -1 while it has none. */
    public long logStartOf(int id) {
        return nodes.get(id).raft().map(RaftNode::logStartIndex).orElse(-1L);
    }

    /** Waits for something, with a deadline. */
    public static void await(String what, long timeoutMs, BooleanSupplier condition) throws TimeoutException {
        long deadlineNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs);
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new TimeoutException(what);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    /** The leader, when there is one. */
    public int awaitLeader() throws TimeoutException {
        await("a leader", 20_000, () -> leaders().size() == 1);
        return leaders().get(0);
    }

    @Override
    public void close() {
        clients.forEach(RemoteMetadataClient::close);
        nodes.values().forEach(MetadataNode::close);
        loops.close();
    }
}
