package io.varve.metadata.server;

import io.varve.base.StartupException;
import io.varve.metadata.core.PlannerSettings;
import io.varve.metadata.net.ServiceSettings;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.metadata.raft.RaftSettings;
import io.varve.protocol.config.Config;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.config.NodeAddress;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A metadata node's configuration.
 *
 * @param nodeId which of {@code servers} it is
 * @param directory its data
 * @param listenHost the address to listen on for clients
 * @param servers all nodes, with the ports for clients
 * @param clusterName see {@link RaftSettings#groupName}
 * @param raft how it takes part in the log
 * @param service how it serves
 * @param readyMs how long a start waits for a quorum; at least 1
 */
public record MetadataConfig(
        int nodeId,
        Path directory,
        String listenHost,
        List<NodeAddress> servers,
        String clusterName,
        RaftSettings raft,
        ServiceSettings service,
        long readyMs) {

    /** A year is as long as it takes. */
    private static final long FOREVER_MS = 365L * 86_400_000;

    /** The nodes, as every role's file names them. */
    public static final ConfigKey<List<NodeAddress>> SERVERS = ConfigKey.nodes(
            "metadata.servers",
            "The nodes of the metadata service with the ports for clients: id@host:port for each of 1, 3 or 5 nodes.");

    private static final ConfigKey<Integer> NODE_ID =
            ConfigKey.integer("metadata.node.id", "This node's number in metadata.servers.", 0, 1_000_000);
    private static final ConfigKey<Path> DIRECTORY =
            ConfigKey.path("metadata.data.dir", "Where this node keeps its log and snapshots.");
    private static final ConfigKey<String> LISTEN_HOST = ConfigKey.text(
                    "metadata.listen.host", "The address to listen on for clients; 0.0.0.0 for all of this machine's.")
            .withDefault("0.0.0.0");
    private static final ConfigKey<List<NodeAddress>> RAFT_SERVERS = ConfigKey.nodes(
                    "metadata.raft.servers",
                    "The same nodes with the ports on which they speak to each other. Left out, that is each one's"
                            + " port for clients plus 1.")
            .optional();
    private static final ConfigKey<String> CLUSTER_NAME = ConfigKey.text(
                    "metadata.cluster.name",
                    "The same on all nodes of a cluster, and another for each cluster on the same network: nodes of"
                            + " different clusters never mix.")
            .withDefault("varve");
    private static final ConfigKey<Long> READY_MS = ConfigKey.number(
                    "metadata.ready.timeout.ms",
                    "How long a start waits for a quorum before it gives up; -1 for as long as it takes.",
                    -1,
                    86_400_000)
            .withDefault("-1");
    private static final ConfigKey<Integer> ELECTION_MS = ConfigKey.integer(
                    "metadata.election.timeout.ms",
                    "The shortest silence of the leader after which another node stands for election; the longest is"
                            + " twice that.",
                    50,
                    60_000)
            .withDefault("1000");
    private static final ConfigKey<Long> SNAPSHOT_ENTRIES = ConfigKey.number(
                    "metadata.snapshot.entries",
                    "A snapshot is written whenever so many entries were applied.",
                    100,
                    Long.MAX_VALUE)
            .withDefault("50000");
    private static final ConfigKey<Long> PRESERVED_ENTRIES = ConfigKey.number(
                    "metadata.log.preserved.entries",
                    "So many entries before a snapshot stay in the log, for nodes that lag a little.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("10000");
    private static final ConfigKey<Long> SESSION_MS = ConfigKey.number(
                    "metadata.session.timeout.ms",
                    "A broker or bookie that is silent for so long is presumed gone.",
                    200,
                    3_600_000)
            .withDefault("3000");
    private static final ConfigKey<Long> DROP_MS = ConfigKey.number(
                    "metadata.session.drop.grace.ms",
                    "One whose connection broke and that does not come back for so long, too.",
                    0,
                    3_600_000)
            .withDefault("300");
    private static final ConfigKey<Long> PLAN_MS = ConfigKey.number(
                    "metadata.plan.interval.ms",
                    "How often offload, retention and repair are looked into.",
                    10,
                    3_600_000)
            .withDefault("250");
    private static final ConfigKey<Long> WATCH_BYTES = ConfigKey.number(
                    "metadata.watch.bytes",
                    "So many bytes of changes are kept in memory for clients that follow; one that is further behind"
                            + " gets the whole state.",
                    1 << 20,
                    Long.MAX_VALUE)
            .withDefault("67108864");
    private static final ConfigKey<Long> OFFLOAD_DELAY_MS = ConfigKey.number(
                    "metadata.offload.delay.ms", "How long after its seal a segment is offloaded.", 0, Long.MAX_VALUE)
            .withDefault("1000");
    private static final ConfigKey<Long> OFFLOAD_MERGE_BYTES = ConfigKey.number(
                    "metadata.offload.merge.bytes",
                    "Small adjoining segments of a partition are merged into objects of up to so many bytes.",
                    1,
                    Long.MAX_VALUE)
            .withDefault("268435456");
    private static final ConfigKey<Long> OFFLOAD_SMALL_BYTES = ConfigKey.number(
                    "metadata.offload.small.bytes",
                    "A stretch smaller than this, and than half of segment.bytes, waits for more before it is"
                            + " offloaded.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("8388608");
    private static final ConfigKey<Long> OFFLOAD_WAIT_MS = ConfigKey.number(
                    "metadata.offload.small.wait.ms", "How long it waits at most.", 0, Long.MAX_VALUE)
            .withDefault("60000");
    private static final ConfigKey<Long> TASK_MS = ConfigKey.number(
                    "metadata.task.timeout.ms",
                    "An offload or a copy that takes longer, by more than its bookie needs for all that it was given at 256 KiB a second, is"
                            + " given to somebody else.",
                    1_000,
                    Long.MAX_VALUE)
            .withDefault("600000");
    private static final ConfigKey<Long> ABANDONED_MS = ConfigKey.number(
                    "metadata.upload.abandoned.ms",
                    "An upload whose bookie went away may go on for so long, as far as anybody knows; what it made is deleted then.",
                    0,
                    86_400_000)
            .withDefault("300000");
    private static final ConfigKey<Long> CONFIRM_MS = ConfigKey.number(
                    "metadata.confirm.delay.ms",
                    "How long a replica that was behind at the seal is waited for before it is completed by copying.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("30000");
    private static final ConfigKey<Long> REPAIR_MS = ConfigKey.number(
                    "metadata.repair.delay.ms",
                    "How long a bookie that is gone is waited for before its replicas are copied elsewhere.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("600000");
    private static final ConfigKey<Integer> OFFLOADS = ConfigKey.integer(
                    "metadata.offloads.per.bookie", "How many uploads a bookie is given at a time.", 1, 1_000)
            .withDefault("4");
    private static final ConfigKey<Integer> COPIES = ConfigKey.integer(
                    "metadata.copies.per.bookie", "How many copies a bookie is given to make at a time.", 1, 1_000)
            .withDefault("2");

    private static final ConfigKey<Integer> MANIFEST_SEGMENTS = ConfigKey.integer(
                    "metadata.manifest.segments.min",
                    "So many segments of a partition that object storage alone holds are moved out of the metadata,"
                            + " into a manifest in the bucket.",
                    1,
                    4_096)
            .withDefault("64");
    private static final ConfigKey<Integer> MANIFESTS = ConfigKey.integer(
                    "metadata.manifests.per.bookie",
                    "How many manifests a bookie is given to work on at a time.",
                    1,
                    1_000)
            .withDefault("4");

    /** All keys of a metadata node's file. */
    public static final ConfigSchema SCHEMA = ConfigSchema.of("metadata")
            .heading("Who this node is")
            .keys(NODE_ID, DIRECTORY, SERVERS, RAFT_SERVERS, LISTEN_HOST, CLUSTER_NAME, READY_MS)
            .heading("The log")
            .keys(ELECTION_MS, SNAPSHOT_ENTRIES, PRESERVED_ENTRIES)
            .heading("Brokers and bookies")
            .keys(SESSION_MS, DROP_MS, WATCH_BYTES)
            .heading("Offload, retention and repair")
            .keys(
                    PLAN_MS,
                    OFFLOAD_DELAY_MS,
                    OFFLOAD_MERGE_BYTES,
                    OFFLOAD_SMALL_BYTES,
                    OFFLOAD_WAIT_MS,
                    OFFLOADS,
                    MANIFEST_SEGMENTS,
                    MANIFESTS,
                    TASK_MS,
                    ABANDONED_MS,
                    CONFIRM_MS,
                    REPAIR_MS,
                    COPIES)
            .build();

    public MetadataConfig {
        servers = List.copyOf(servers);
    }

    /**
     * What a checked file says.
     *
     * @throws StartupException BAD_CONFIG if its parts contradict each other
     */
    public static MetadataConfig of(Config config) {
        int nodeId = config.get(NODE_ID);
        List<NodeAddress> servers = config.get(SERVERS);
        List<NodeAddress> raftServers = config.find(RAFT_SERVERS)
                .orElseGet(() -> servers.stream()
                        .map(s -> new NodeAddress(s.id(), s.host(), s.port() + 1))
                        .toList());
        List<RaftPeerAddress> peers = new ArrayList<>();
        for (NodeAddress server : servers) {
            NodeAddress raft = raftServers.stream()
                    .filter(r -> r.id() == server.id())
                    .findFirst()
                    .orElseThrow(() -> bad(config, "metadata.raft.servers lacks node " + server.id()));
            peers.add(new RaftPeerAddress(server.id(), raft.host(), raft.port(), server.port()));
        }
        if (peers.stream().noneMatch(peer -> peer.nodeId() == nodeId)) {
            throw bad(config, "metadata.node.id=" + nodeId + " is none of metadata.servers");
        }
        if (config.get(OFFLOAD_MERGE_BYTES) < config.get(OFFLOAD_SMALL_BYTES)) {
            throw bad(config, "metadata.offload.merge.bytes is smaller than metadata.offload.small.bytes");
        }
        Path directory = config.get(DIRECTORY);
        String clusterName = config.get(CLUSTER_NAME);
        RaftSettings defaults = RaftSettings.of(nodeId, peers, clusterName, directory.resolve("raft"));
        RaftSettings raft = new RaftSettings(
                nodeId,
                peers,
                clusterName,
                defaults.directory(),
                config.get(ELECTION_MS),
                config.get(SNAPSHOT_ENTRIES),
                config.get(PRESERVED_ENTRIES),
                defaults.logSegmentBytes());
        return new MetadataConfig(
                nodeId,
                directory,
                config.get(LISTEN_HOST),
                servers,
                clusterName,
                raft,
                service(config),
                config.get(READY_MS) < 0 ? FOREVER_MS : config.get(READY_MS));
    }

    private static ServiceSettings service(Config config) {
        PlannerSettings defaults = PlannerSettings.DEFAULT;
        PlannerSettings planner = new PlannerSettings(
                config.get(OFFLOAD_DELAY_MS),
                config.get(OFFLOAD_MERGE_BYTES),
                config.get(OFFLOAD_SMALL_BYTES),
                config.get(OFFLOAD_WAIT_MS),
                config.get(TASK_MS),
                config.get(ABANDONED_MS),
                config.get(CONFIRM_MS),
                config.get(REPAIR_MS),
                config.get(OFFLOADS),
                config.get(COPIES),
                defaults.objectDeletionsPerBookie(),
                config.get(MANIFEST_SEGMENTS),
                config.get(MANIFESTS),
                defaults.clientForgetMs());
        return new ServiceSettings(
                config.get(SESSION_MS), config.get(DROP_MS), config.get(PLAN_MS), config.get(WATCH_BYTES), planner);
    }

    /** The port for clients. */
    public int clientPort() {
        return servers.stream()
                .filter(server -> server.id() == nodeId)
                .findFirst()
                .orElseThrow()
                .port();
    }

    private static StartupException bad(Config config, String what) {
        return new StartupException(StartupException.Reason.BAD_CONFIG, what + " in " + config.source());
    }
}
