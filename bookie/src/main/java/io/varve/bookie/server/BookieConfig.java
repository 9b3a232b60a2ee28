package io.varve.bookie.server;

import io.varve.base.BookieId;
import io.varve.base.StartupException;
import io.varve.bookie.store.StoreOptions;
import io.varve.bookie.task.TaskKind;
import io.varve.metadata.model.BookieTask;
import io.varve.protocol.config.Config;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.config.HostPort;
import io.varve.protocol.config.NodeAddress;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.tiering.client.TieringConfig;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The keys of a bookie, and its limits as the parts want them. */
public final class BookieConfig {

    private static final int KIB = 1024;
    private static final int MIB = 1024 * KIB;

    public static final ConfigKey<Integer> ID = ConfigKey.integer(
            "bookie.id",
            "This bookie's number, unique in the cluster. It goes with the disks, not with the address.",
            0,
            Integer.MAX_VALUE);
    public static final ConfigKey<String> RACK = ConfigKey.text(
                    "bookie.rack", "Where it stands: copies of a segment are spread over racks.")
            .withDefault("");
    public static final ConfigKey<List<Path>> DATA_DIRS = ConfigKey.paths(
            "bookie.data.dirs",
            "Data directories, best one for each disk. Each gets a cookie that ties it to this bookie and cluster.");
    public static final ConfigKey<HostPort> LISTENER = ConfigKey.hostPort(
                    "bookie.listener",
                    "The address to listen on for brokers and other bookies; port 0 takes any free one.")
            .withDefault("0.0.0.0:7200");
    public static final ConfigKey<HostPort> ADVERTISED = ConfigKey.hostPort(
                    "bookie.advertised.listener",
                    "The address under which others reach it. Left out: the listener's, with this machine's name for 0.0.0.0, and the port it got.")
            .optional();
    public static final ConfigKey<List<NodeAddress>> METADATA_SERVERS = ConfigKey.nodes(
            "metadata.servers", "The nodes of the metadata service, as id@host:port with commas between them.");
    public static final ConfigKey<Long> METADATA_WAIT_MS = ConfigKey.number(
                    "metadata.wait.ms",
                    "How long to wait at the start for the metadata service to have a quorum; -1 for as long as it takes.",
                    -1,
                    86_400_000)
            .withDefault("-1");
    public static final ConfigKey<Integer> NETWORK_THREADS = ConfigKey.integer(
                    "bookie.network.threads", "Threads that read from and write to connections.", 1, 256)
            .withDefault("2");
    public static final ConfigKey<Integer> CONNECTIONS_MAX = ConfigKey.integer(
                    "bookie.connections.max", "Connections at a time; each broker makes two.", 1, 1_000_000)
            .withDefault("4096");
    public static final ConfigKey<Integer> SILENCE_MS = ConfigKey.integer(
                    "bookie.connection.silence.ms",
                    "A peer from whom nothing came for so long is taken for dead.",
                    30,
                    600_000)
            .withDefault("3000");

    public static final ConfigKey<Long> JOURNAL_FILE_BYTES = ConfigKey.number(
                    "bookie.journal.file.bytes",
                    "Size of one preallocated journal file. A multiple of 4096.",
                    MIB,
                    16L * 1024 * MIB)
            .withDefault(Long.toString(256L * MIB));
    public static final ConfigKey<Boolean> DIRECT_WRITES = ConfigKey.bool(
                    "bookie.journal.direct.writes",
                    "Whether the journal is written past the page cache, where the file system can.")
            .withDefault("true");
    public static final ConfigKey<Integer> GROUP_BYTES_MAX = ConfigKey.integer(
                    "bookie.group.bytes.max", "The most that is made durable by one fsync.", 64 * KIB, 1024 * MIB)
            .withDefault(Integer.toString(4 * MIB));
    public static final ConfigKey<Long> PENDING_BYTES_MAX = ConfigKey.number(
                    "bookie.pending.bytes.max",
                    "Bytes of entries received and not yet durable, of all connections. Beyond it the bookie stops reading.",
                    MIB,
                    64L * 1024 * MIB)
            .withDefault(Long.toString(64L * MIB));
    public static final ConfigKey<Long> CONNECTION_PENDING_BYTES_MAX = ConfigKey.number(
                    "bookie.connection.pending.bytes.max", "The same for one connection.", MIB, 64L * 1024 * MIB)
            .withDefault(Long.toString(32L * MIB));
    public static final ConfigKey<Integer> ENTRY_BYTES_MAX = ConfigKey.integer(
                    "bookie.entry.bytes.max", "Entries beyond this are refused.", KIB, 64 * MIB)
            .withDefault(Integer.toString(16 * MIB));
    public static final ConfigKey<Long> RECENT_BYTES_MAX = ConfigKey.number(
                    "bookie.recent.bytes.max",
                    "Newly written data kept in memory for readers of the tail, for each directory.",
                    0,
                    64L * 1024 * MIB)
            .withDefault(Long.toString(64L * MIB));
    public static final ConfigKey<Long> INDEX_BYTES_MAX = ConfigKey.number(
                    "bookie.index.bytes.max",
                    "Memory for the indexes of full journal files, for each directory; what is beyond is read again when it is needed.",
                    MIB,
                    64L * 1024 * MIB)
            .withDefault(Long.toString(32L * MIB));
    public static final ConfigKey<Long> TAIL_READ_BYTES_MAX = ConfigKey.number(
                    "bookie.read.tail.bytes.max",
                    "Memory for reads near the tail and of takeovers.",
                    MIB,
                    64L * 1024 * MIB)
            .withDefault(Long.toString(64L * MIB));
    public static final ConfigKey<Long> CATCH_UP_READ_BYTES_MAX = ConfigKey.number(
                    "bookie.read.catch.up.bytes.max", "Memory for all other reads.", MIB, 64L * 1024 * MIB)
            .withDefault(Long.toString(64L * MIB));
    public static final ConfigKey<Integer> READ_REPLY_BYTES_MAX = ConfigKey.integer(
                    "bookie.read.reply.bytes.max",
                    "The most that one read returns, beyond its first entry.",
                    4 * KIB,
                    32 * MIB)
            .withDefault(Integer.toString(4 * MIB));

    public static final ConfigKey<Long> UNSETTLED_BYTES_MAX = ConfigKey.number(
                    "bookie.settle.backlog.bytes.max",
                    "Full journal files beyond this are settled into segment files, the oldest first, for each directory.",
                    0,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(2048L * MIB));
    public static final ConfigKey<Long> SETTLE_RATE = ConfigKey.number(
                    "bookie.settle.bytes.per.second",
                    "How fast settling reads, for each directory, while no more waits than should; faster the more does.",
                    MIB,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(64L * MIB));
    public static final ConfigKey<Long> SCRUB_RATE = ConfigKey.number(
                    "bookie.scrub.bytes.per.second",
                    "How fast the scrub verifies what is on disk, for each directory; 0 turns it off.",
                    0,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(8L * MIB));
    public static final ConfigKey<Long> DISK_RESERVE_BYTES = ConfigKey.number(
                    "bookie.disk.reserve.bytes",
                    "Kept free for fences, deletions and settling, for each directory: it takes nothing new when less is left.",
                    0,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(1024L * MIB));
    public static final ConfigKey<Long> DISK_RELIEVE_BYTES = ConfigKey.number(
                    "bookie.disk.relieve.bytes",
                    "It takes new data again when so much is free. More than the reserve.",
                    0,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(2048L * MIB));

    public static final ConfigKey<Integer> OFFLOADS_MAX = ConfigKey.integer(
                    "bookie.offload.concurrency", "Offloads at a time.", 1, 256)
            .withDefault("2");
    public static final ConfigKey<Integer> COPIES_MAX = ConfigKey.integer(
                    "bookie.repair.concurrency", "Segments copied from other bookies at a time.", 1, 256)
            .withDefault("2");
    public static final ConfigKey<Long> COPY_RATE = ConfigKey.number(
                    "bookie.repair.bytes.per.second",
                    "How fast segments are copied from other bookies, all together; 0 for no limit, else at least 262144.",
                    0,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(64L * MIB));
    public static final ConfigKey<Integer> DELETIONS_MAX = ConfigKey.integer(
                    "bookie.delete.concurrency", "Replicas, and objects, deleted at a time.", 1, 1_000)
            .withDefault("16");

    /** Everything that a bookie's file may have. */
    public static final ConfigSchema SCHEMA = schema();

    private final Config config;

    private BookieConfig(Config config) {
        this.config = config;
    }

    private static ConfigSchema schema() {
        ConfigSchema.Builder schema = ConfigSchema.of("bookie");
        schema.heading("Who it is").keys(ID, RACK, DATA_DIRS);
        schema.heading("Where it is").keys(LISTENER, ADVERTISED);
        schema.heading("The metadata service").keys(METADATA_SERVERS, METADATA_WAIT_MS);
        schema.heading("Connections").keys(NETWORK_THREADS, CONNECTIONS_MAX, SILENCE_MS);
        schema.heading("Appends")
                .keys(JOURNAL_FILE_BYTES, DIRECT_WRITES, GROUP_BYTES_MAX, PENDING_BYTES_MAX)
                .keys(CONNECTION_PENDING_BYTES_MAX, ENTRY_BYTES_MAX);
        schema.heading("Reads")
                .keys(RECENT_BYTES_MAX, INDEX_BYTES_MAX, TAIL_READ_BYTES_MAX, CATCH_UP_READ_BYTES_MAX)
                .keys(READ_REPLY_BYTES_MAX);
        schema.heading("Disks")
                .keys(UNSETTLED_BYTES_MAX, SETTLE_RATE, SCRUB_RATE, DISK_RESERVE_BYTES, DISK_RELIEVE_BYTES);
        schema.heading("Background work").keys(OFFLOADS_MAX, COPIES_MAX, COPY_RATE, DELETIONS_MAX);
        return TieringConfig.addTo(schema).build();
    }

    /**
     * Takes values checked against {@link #SCHEMA}, and checks how they go together.
     *
     * @throws StartupException BAD_CONFIG in one line
     */
    public static BookieConfig of(Config config) {
        BookieConfig made = new BookieConfig(config);
        made.require(JOURNAL_FILE_BYTES, config.get(JOURNAL_FILE_BYTES) % 4096 == 0, "is no multiple of 4096");
        made.require(
                CONNECTION_PENDING_BYTES_MAX,
                config.get(CONNECTION_PENDING_BYTES_MAX) <= config.get(PENDING_BYTES_MAX),
                "is more than " + PENDING_BYTES_MAX);
        made.require(
                DISK_RELIEVE_BYTES,
                config.get(DISK_RELIEVE_BYTES) > config.get(DISK_RESERVE_BYTES),
                "is not more than " + DISK_RESERVE_BYTES);
        made.require(
                ENTRY_BYTES_MAX,
                config.get(ENTRY_BYTES_MAX) <= config.get(JOURNAL_FILE_BYTES) / 2,
                "is more than half of " + JOURNAL_FILE_BYTES);
        for (ConfigKey<Long> rate : List.of(COPY_RATE, TieringConfig.UPLOAD_RATE)) {
            made.require(
                    rate,
                    config.get(rate) == 0 || config.get(rate) >= BookieTask.BYTES_PER_SECOND_MIN,
                    "is less than " + BookieTask.BYTES_PER_SECOND_MIN
                            + ", by which the metadata service takes work back as too slow");
        }
        return made;
    }

    /** The checked values, for the parts that have keys of their own. */
    public Config config() {
        return config;
    }

    /** Its number. */
    public BookieId id() {
        return new BookieId(config.get(ID));
    }

    <T> T get(ConfigKey<T> key) {
        return config.get(key);
    }

    /** The address to register, given the port that was bound. */
    HostPort advertised(int boundPort, String machineName) {
        HostPort listener = config.get(LISTENER);
        boolean everywhere =
                listener.host().equals("0.0.0.0") || listener.host().equals("::");
        HostPort own = new HostPort(everywhere ? machineName : listener.host(), boundPort);
        return config.find(ADVERTISED)
                .map(a -> new HostPort(a.host(), a.port() == 0 ? boundPort : a.port()))
                .orElse(own);
    }

    /** What the network side allows. */
    RpcBounds rpcBounds() {
        RpcBounds usual = RpcBounds.DEFAULT.withSilence(config.get(SILENCE_MS));
        return new RpcBounds(
                usual.frameBytesMax(),
                usual.inFlightMax(),
                config.get(CONNECTION_PENDING_BYTES_MAX),
                config.get(PENDING_BYTES_MAX),
                config.get(CONNECTIONS_MAX),
                usual.aliveMs(),
                usual.silentMsMax(),
                usual.connectMsMax(),
                usual.backoffMsMin(),
                usual.backoffMsMax());
    }

    /** How the store is set up. It may hold twice what the network lets in, so that the network is what pushes back. */
    StoreOptions storeOptions(String clusterId) {
        return new StoreOptions(
                clusterId,
                id(),
                config.get(DATA_DIRS),
                config.get(JOURNAL_FILE_BYTES),
                config.get(DIRECT_WRITES),
                config.get(GROUP_BYTES_MAX),
                2 * config.get(PENDING_BYTES_MAX),
                config.get(RECENT_BYTES_MAX),
                config.get(INDEX_BYTES_MAX),
                config.get(ENTRY_BYTES_MAX),
                config.get(TAIL_READ_BYTES_MAX),
                config.get(CATCH_UP_READ_BYTES_MAX),
                config.get(UNSETTLED_BYTES_MAX),
                config.get(SETTLE_RATE),
                config.get(SCRUB_RATE),
                config.get(DISK_RESERVE_BYTES),
                config.get(DISK_RELIEVE_BYTES));
    }

    /** How many tasks of each kind may be at work at a time. */
    /** Work on manifests at a time, of each kind: short, and mostly waiting for the store. */
    private static final int MANIFESTS_MAX = 2;

    Map<TaskKind, Integer> tasksMax() {
        Map<TaskKind, Integer> max = new EnumMap<>(TaskKind.class);
        max.put(TaskKind.OFFLOAD, config.get(OFFLOADS_MAX));
        max.put(TaskKind.COPY_REPLICA, config.get(COPIES_MAX));
        max.put(TaskKind.DELETE_REPLICA, config.get(DELETIONS_MAX));
        max.put(TaskKind.DELETE_OBJECT, config.get(DELETIONS_MAX));
        max.put(TaskKind.BUILD_MANIFEST, MANIFESTS_MAX);
        max.put(TaskKind.PRUNE_MANIFEST, MANIFESTS_MAX);
        return max;
    }

    private void require(ConfigKey<?> key, boolean holds, String what) {
        if (!holds) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG,
                    "Wrong value of " + key + " in " + config.whence(key) + ": it " + what);
        }
    }
}
