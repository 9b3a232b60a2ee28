package io.varve.serving.server;

import io.varve.protocol.config.Config;
import io.varve.protocol.config.ConfigKey;
import io.varve.protocol.config.ConfigSchema;
import io.varve.protocol.config.NodeAddress;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.net.KafkaServerOptions;
import io.varve.serving.partition.CompactionOptions;
import io.varve.serving.partition.PartitionOptions;
import io.varve.serving.request.BrokerConfigs;
import io.varve.serving.request.BrokerSettings;
import io.varve.tiering.client.TieringConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A broker's configuration: Kafka's names where Kafka has one, {@code broker.…} for what is ours. */
public final class ServingConfig {

    private static final int MIB = 1 << 20;

    static final ConfigKey<Integer> NODE_ID =
            ConfigKey.integer("node.id", "This broker's number, unique among brokers.", 0, Integer.MAX_VALUE);
    static final ConfigKey<String> RACK = ConfigKey.text(
                    "broker.rack", "Where it stands, for clients that look for a near one.")
            .optional();
    static final ConfigKey<List<Listeners.Named>> LISTENERS = ConfigKey.list(
                    "listeners",
                    "Where it listens for Kafka clients: NAME://host:port, an empty host for all addresses.")
            .as("NAME://host:port with commas", Listeners::parse)
            .withDefault("PLAINTEXT://localhost:9092");
    static final ConfigKey<List<Listeners.Named>> ADVERTISED = ConfigKey.list(
                    "advertised.listeners",
                    "What clients are told to connect to, for each listener. Its own address if left out, which can't"
                            + " be a wildcard.")
            .as("NAME://host:port with commas", Listeners::parse)
            .optional();
    static final ConfigKey<List<NodeAddress>> METADATA_SERVERS =
            ConfigKey.nodes("metadata.servers", "The nodes of the metadata service: id@host:port with commas.");
    static final ConfigKey<Long> METADATA_WAIT_MS = ConfigKey.number(
                    "metadata.wait.ms",
                    "How long starting waits for the metadata service to have a quorum; -1 for as long as it takes.",
                    -1,
                    86_400_000)
            .withDefault("-1");

    static final ConfigKey<Integer> PARTITIONS = ConfigKey.integer(
                    "num.partitions", "Partitions of a topic that doesn't say.", 1, 100_000)
            .withDefault("1");
    static final ConfigKey<Integer> REPLICAS = ConfigKey.integer(
                    "default.replication.factor", "Replicas on bookies of a topic that doesn't say.", 1, 16)
            .withDefault("3");
    static final ConfigKey<Boolean> AUTO_CREATE = ConfigKey.bool(
                    "auto.create.topics.enable", "Whether a topic that a client asks for and that is missing is made.")
            .withDefault("true");

    static final ConfigKey<Integer> NETWORK_THREADS = ConfigKey.integer(
                    "num.network.threads", "Event loops for client connections; 0 for one for each processor.", 0, 256)
            .withDefault("0");
    static final ConfigKey<Integer> RPC_THREADS = ConfigKey.integer(
                    "broker.rpc.threads", "Event loops for connections to bookies and to the metadata service.", 1, 256)
            .withDefault("2");
    static final ConfigKey<Integer> REQUEST_BYTES = ConfigKey.integer(
                    "socket.request.max.bytes", "The largest request taken.", 1024, Integer.MAX_VALUE - 16)
            .withDefault("104857600");
    static final ConfigKey<Long> REQUEST_MEMORY = ConfigKey.number(
                    "queued.max.request.bytes",
                    "Memory for requests of all connections; a connection that gets none waits. -1 for a quarter of"
                            + " the heap's size.",
                    -1,
                    Long.MAX_VALUE)
            .withDefault("-1");
    static final ConfigKey<Integer> CONNECTION_REQUESTS = ConfigKey.integer(
                    "broker.connection.requests.max",
                    "Requests of one connection that are worked on at a time.",
                    1,
                    65_536)
            .withDefault("256");
    static final ConfigKey<Long> CONNECTION_BYTES = ConfigKey.number(
                    "broker.connection.request.bytes.max",
                    "Request bytes of one connection that are worked on at a time.",
                    1024,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(64L * MIB));
    static final ConfigKey<Integer> CONNECTIONS = ConfigKey.integer(
                    "max.connections", "Connections of clients.", 1, Integer.MAX_VALUE)
            .withDefault("100000");
    static final ConfigKey<Integer> CONNECTIONS_PER_IP = ConfigKey.integer(
                    "max.connections.per.ip", "Connections from one address.", 1, Integer.MAX_VALUE)
            .withDefault("100000");
    static final ConfigKey<Long> IDLE_MS = ConfigKey.number(
                    "connections.max.idle.ms",
                    "Connections that are silent for so long are closed; 0 for never.",
                    0,
                    Long.MAX_VALUE)
            .withDefault("600000");
    static final ConfigKey<Long> STALL_MS = ConfigKey.number(
                    "broker.connection.stall.ms",
                    "A connection on which a request stops half way for so long is closed.",
                    100,
                    3_600_000)
            .withDefault("30000");
    static final ConfigKey<Integer> BACKLOG = ConfigKey.integer(
                    "socket.listen.backlog.size", "Connections waiting to be accepted.", 1, 65_536)
            .withDefault("512");

    static final ConfigKey<Integer> FETCH_BYTES = ConfigKey.integer(
                    "fetch.max.bytes",
                    "The largest answer to a Fetch, but for its first batch.",
                    1024,
                    Integer.MAX_VALUE)
            .withDefault("57671680");
    static final ConfigKey<Long> FETCH_MEMORY = ConfigKey.number(
                    "broker.fetch.memory.bytes",
                    "Bytes of Fetch answers on their way to all clients; near it answers get smaller. -1 for a quarter"
                            + " of the heap's size.",
                    -1,
                    Long.MAX_VALUE)
            .withDefault("-1");
    static final ConfigKey<Integer> FETCH_SESSIONS = ConfigKey.integer(
                    "max.incremental.fetch.session.cache.slots", "Incremental fetch sessions kept.", 0, 1_000_000)
            .withDefault("10000");
    static final ConfigKey<Long> TAKEOVER_WAIT_MS = ConfigKey.number(
                    "broker.takeover.wait.ms",
                    "How long a request waits for a partition that this broker is just taking over, before its client"
                            + " is sent to look again.",
                    0,
                    60_000)
            .withDefault("2000");
    static final ConfigKey<Long> DRAIN_MS = ConfigKey.number(
                    "broker.drain.timeout.ms",
                    "How long stopping waits for partitions to be handed over and answers to leave.",
                    0,
                    600_000)
            .withDefault("20000");

    static final ConfigKey<Integer> PARTITION_LOOPS = ConfigKey.integer(
                    "broker.partition.loops",
                    "Event loops that partitions are spread over; 0 for one for every two processors.",
                    0,
                    256)
            .withDefault("0");
    static final ConfigKey<Long> CACHE_BYTES = ConfigKey.number(
                    "broker.cache.bytes",
                    "Memory for recent entries; -1 for an eighth of the heap's size.",
                    -1,
                    Long.MAX_VALUE)
            .withDefault("-1");
    static final ConfigKey<Boolean> CLEANER = ConfigKey.bool(
                    "log.cleaner.enable", "Whether topics with cleanup.policy=compact are compacted by this broker.")
            .withDefault("true");
    static final ConfigKey<Long> CLEANER_BACKOFF_MS = ConfigKey.number(
                    "log.cleaner.backoff.ms",
                    "How long after finding nothing to compact it is looked again.",
                    1,
                    86_400_000)
            .withDefault("15000");
    static final ConfigKey<Long> CLEANER_KEYS_BYTES = ConfigKey.number(
                    "log.cleaner.dedupe.buffer.size",
                    "Memory for the keys of a compaction, 24 bytes each; -1 for a thirty-second of the heap's size, and"
                            + " 32 MiB at most.",
                    -1,
                    4L << 30)
            .withDefault("-1");
    static final ConfigKey<Long> CLEANER_RATE = ConfigKey.number(
                    "log.cleaner.io.max.bytes.per.second",
                    "What compaction reads and writes in a second, at most; -1 without bound.",
                    -1,
                    Long.MAX_VALUE)
            .withDefault("-1");
    static final ConfigKey<Long> PENDING_BYTES = ConfigKey.number(
                    "broker.partition.pending.bytes.max",
                    "Bytes of one partition that bookies have not acknowledged; more is refused until they have.",
                    MIB,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(32L * MIB));
    static final ConfigKey<Long> PENDING_BYTES_TOTAL = ConfigKey.number(
                    "broker.pending.bytes.max",
                    "The same for all partitions; -1 for an eighth of the heap's size.",
                    -1,
                    Long.MAX_VALUE)
            .withDefault("-1");
    static final ConfigKey<Long> LAG_BYTES = ConfigKey.number(
                    "broker.replica.lag.bytes.max",
                    "A bookie that is so far behind the others is dropped and the segment rolled.",
                    MIB,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(16L * MIB));
    static final ConfigKey<Long> LAG_MS = ConfigKey.number(
                    "broker.replica.lag.ms", "The same after so long.", 100, 3_600_000)
            .withDefault("5000");
    static final ConfigKey<Long> AVOID_MS = ConfigKey.number(
                    "broker.replica.avoid.ms",
                    "How long a bookie that was dropped, or whose connection was lost, is given no new segment of the"
                            + " partition, unless there are too few others.",
                    100,
                    3_600_000)
            .withDefault("30000");
    static final ConfigKey<Long> CHECKPOINT_BYTES = ConfigKey.number(
                    "broker.checkpoint.bytes",
                    "Bytes between checkpoints of producer state: what a takeover reads at most.",
                    64 * 1024,
                    Long.MAX_VALUE)
            .withDefault(Long.toString(4L * MIB));
    static final ConfigKey<Long> BOOKIE_CALL_MS = ConfigKey.number(
                    "broker.bookie.call.timeout.ms", "The deadline of one call to a bookie.", 50, 600_000)
            .withDefault("2000");
    static final ConfigKey<Integer> READ_BYTES = ConfigKey.integer(
                    "broker.read.bytes.max",
                    "The most that one read asks a bookie or object storage for.",
                    64 * 1024,
                    256 * MIB)
            .withDefault(Integer.toString(4 * MIB));
    static final ConfigKey<Long> PRODUCER_EXPIRATION_MS = ConfigKey.number(
                    "producer.id.expiration.ms", "For how long an idle producer is remembered.", 1, Long.MAX_VALUE)
            .withDefault("86400000");
    static final ConfigKey<Long> REBALANCE_MS = ConfigKey.number(
                    "broker.rebalance.delay.ms",
                    "When no broker has come or gone for so long, partitions are handed over one by one until the"
                            + " brokers have about as many each; -1 for never.",
                    -1,
                    Long.MAX_VALUE)
            .withDefault("30000");

    static final ConfigKey<Integer> OFFSETS_PARTITIONS = ConfigKey.integer(
                    "offsets.topic.num.partitions",
                    "Partitions of __consumer_offsets, fixed when it is made.",
                    1,
                    10_000)
            .withDefault("50");
    static final ConfigKey<Integer> TRANSACTION_PARTITIONS = ConfigKey.integer(
                    "transaction.state.log.num.partitions",
                    "Partitions of __transaction_state, fixed when it is made.",
                    1,
                    10_000)
            .withDefault("50");
    static final ConfigKey<Integer> SHARE_PARTITIONS = ConfigKey.integer(
                    "share.coordinator.state.topic.num.partitions",
                    "Partitions of __share_group_state, fixed when it is made.",
                    1,
                    10_000)
            .withDefault("50");
    static final ConfigKey<Integer> SHARE_SESSIONS = ConfigKey.integer(
                    "group.share.max.share.sessions",
                    "Members of share groups that may read here at once.",
                    1,
                    1_000_000)
            .withDefault("2000");
    static final ConfigKey<Integer> COORDINATOR_BATCH_BYTES = ConfigKey.integer(
                    "offsets.topic.batch.bytes.max", "The largest batch that a coordinator writes.", 1024, 64 * MIB)
            .withDefault(Integer.toString(MIB));

    /** Handed to Kafka's coordinators as they are, if they are set: the defaults are Kafka's. */
    private static final List<ConfigKey<?>> FOR_COORDINATORS = List.of(
            number(
                    "group.initial.rebalance.delay.ms",
                    "How long the first join of an empty group waits for others.",
                    0),
            number("group.min.session.timeout.ms", "The shortest session of a classic member.", 1),
            number("group.max.session.timeout.ms", "The longest session of a classic member.", 1),
            number("group.max.size", "Members of a classic group.", 1),
            number("group.consumer.session.timeout.ms", "The session of a member of a consumer group.", 1),
            number("group.consumer.heartbeat.interval.ms", "How often a member of a consumer group is heard of.", 1),
            number("group.consumer.max.size", "Members of a consumer group.", 1),
            number("group.streams.session.timeout.ms", "The session of a member of a streams group.", 1),
            number("group.streams.heartbeat.interval.ms", "How often a member of a streams group is heard of.", 1),
            number("group.share.session.timeout.ms", "The session of a member of a share group.", 1),
            number("group.share.heartbeat.interval.ms", "How often a member of a share group is heard of.", 1),
            number("group.share.max.size", "Members of a share group.", 1),
            number("group.share.record.lock.duration.ms", "How long a member of a share group may keep a record.", 1),
            number("group.share.min.record.lock.duration.ms", "The least that a share group may set of that.", 1),
            number("group.share.delivery.count.limit", "How often a share group is handed a record at most.", 1),
            number(
                    "group.share.partition.max.record.locks",
                    "How many records of a partition the members of a share group may have at once.",
                    1),
            number("group.coordinator.threads", "Threads of the group coordinator.", 1),
            number("offset.metadata.max.bytes", "The longest text with a committed offset.", 0),
            number("offsets.retention.minutes", "How long offsets of an empty group are kept.", 1),
            number("offsets.retention.check.interval.ms", "How often expired offsets are looked for.", 1),
            number("offsets.commit.timeout.ms", "How long a commit waits for bookies.", 1),
            number("transaction.max.timeout.ms", "The longest time-out that a transaction may have.", 1),
            number("transactional.id.expiration.ms", "How long an unused transactional id is remembered.", 1),
            number(
                    "transaction.abort.timed.out.transaction.cleanup.interval.ms",
                    "How often transactions are looked at for their time-outs.",
                    1));

    private final Config config;
    private final Listeners listeners;

    /**
     * @param config checked against {@link #schema()}
     * @throws io.varve.base.StartupException BAD_CONFIG if listeners contradict one another
     */
    public ServingConfig(Config config) {
        this.config = config;
        this.listeners =
                Listeners.of(config.get(LISTENERS), config.find(ADVERTISED).orElse(List.of()));
    }

    /** All keys. */
    public static ConfigSchema schema() {
        ConfigSchema.Builder schema = ConfigSchema.of("broker");
        schema.heading("Who and where").keys(NODE_ID, RACK, LISTENERS, ADVERTISED, METADATA_SERVERS, METADATA_WAIT_MS);
        schema.heading("Topics").keys(PARTITIONS, REPLICAS, AUTO_CREATE);
        schema.heading("Connections")
                .keys(
                        NETWORK_THREADS,
                        RPC_THREADS,
                        REQUEST_BYTES,
                        REQUEST_MEMORY,
                        CONNECTION_REQUESTS,
                        CONNECTION_BYTES)
                .keys(CONNECTIONS, CONNECTIONS_PER_IP, IDLE_MS, STALL_MS, BACKLOG);
        schema.heading("Fetching and stopping")
                .keys(FETCH_BYTES, FETCH_MEMORY, FETCH_SESSIONS, TAKEOVER_WAIT_MS, DRAIN_MS);
        schema.heading("Partitions")
                .keys(PARTITION_LOOPS, CACHE_BYTES, PENDING_BYTES, PENDING_BYTES_TOTAL, LAG_BYTES, LAG_MS, AVOID_MS)
                .keys(CHECKPOINT_BYTES, BOOKIE_CALL_MS, READ_BYTES, PRODUCER_EXPIRATION_MS, REBALANCE_MS)
                .keys(CLEANER, CLEANER_BACKOFF_MS, CLEANER_KEYS_BYTES, CLEANER_RATE);
        schema.heading("Coordinators")
                .keys(
                        OFFSETS_PARTITIONS,
                        TRANSACTION_PARTITIONS,
                        SHARE_PARTITIONS,
                        SHARE_SESSIONS,
                        COORDINATOR_BATCH_BYTES);
        FOR_COORDINATORS.forEach(schema::keys);
        return TieringConfig.addTo(schema).build();
    }

    /** {@code node.id}. */
    public int nodeId() {
        return config.get(NODE_ID);
    }

    /** {@code broker.rack}, empty if there is none. */
    public String rack() {
        return config.find(RACK).orElse("");
    }

    /** {@code metadata.servers}. */
    public List<NodeAddress> metadataServers() {
        return config.get(METADATA_SERVERS);
    }

    /** How long starting waits for the metadata service. */
    public long metadataWaitMs() {
        long waitMs = config.get(METADATA_WAIT_MS);
        return waitMs < 0 ? TimeUnit.DAYS.toMillis(365) : waitMs;
    }

    /** How long stopping takes at most. */
    public long drainMs() {
        return config.get(DRAIN_MS);
    }

    /** The keys of tiering. */
    public TieringConfig tiering() {
        return new TieringConfig(config);
    }

    int rpcThreads() {
        return config.get(RPC_THREADS);
    }

    Listeners listeners() {
        return listeners;
    }

    KafkaServerOptions network() {
        int threads = config.get(NETWORK_THREADS);
        return new KafkaServerOptions(
                listeners.listening(),
                threads > 0 ? threads : Runtime.getRuntime().availableProcessors(),
                config.get(REQUEST_BYTES),
                orShare(config.get(REQUEST_MEMORY), 4),
                config.get(CONNECTION_REQUESTS),
                config.get(CONNECTION_BYTES),
                config.get(CONNECTIONS),
                config.get(CONNECTIONS_PER_IP),
                config.get(IDLE_MS),
                config.get(STALL_MS),
                config.get(BACKLOG));
    }

    BrokerSettings settings() {
        return new BrokerSettings(
                nodeId(),
                metadataServers().stream()
                        .map(node -> new BrokerSettings.MetadataServer(node.id(), node.host(), node.port()))
                        .toList(),
                config.get(PARTITIONS),
                config.get(REPLICAS),
                config.get(AUTO_CREATE),
                config.get(FETCH_BYTES),
                orShare(config.get(FETCH_MEMORY), 4),
                config.get(FETCH_SESSIONS),
                config.get(SHARE_SESSIONS),
                config.get(TAKEOVER_WAIT_MS),
                60_000);
    }

    PartitionOptions partitions() {
        PartitionOptions defaults = PartitionOptions.defaults();
        int loops = config.get(PARTITION_LOOPS);
        return new PartitionOptions(
                loops > 0 ? loops : defaults.loops(),
                defaults.tickMs(),
                orShare(config.get(CACHE_BYTES), 8),
                config.get(PENDING_BYTES),
                orShare(config.get(PENDING_BYTES_TOTAL), 8),
                config.get(LAG_BYTES),
                config.get(LAG_MS),
                config.get(AVOID_MS),
                config.get(CHECKPOINT_BYTES),
                config.get(BOOKIE_CALL_MS),
                defaults.recoveryReadsMax(),
                config.get(READ_BYTES),
                config.get(PRODUCER_EXPIRATION_MS),
                config.get(REBALANCE_MS),
                compaction(defaults.compaction()));
    }

    private CompactionOptions compaction(CompactionOptions defaults) {
        long keysBytes = config.get(CLEANER_KEYS_BYTES);
        long bytesPerSecond = config.get(CLEANER_RATE);
        return new CompactionOptions(
                config.get(CLEANER) ? config.get(CLEANER_BACKOFF_MS) : -1,
                bytesPerSecond <= 0 ? Long.MAX_VALUE : bytesPerSecond,
                keysBytes < 0 ? defaults.keysBytes() : Math.max(CompactionOptions.KEYS_BYTES_MIN, keysBytes),
                defaults.inflatedBytesMax());
    }

    CoordinatorOptions coordinators() {
        Map<String, String> kafka = new TreeMap<>();
        for (ConfigKey<?> key : FOR_COORDINATORS) {
            config.find(key).ifPresent(value -> kafka.put(key.name(), value.toString()));
        }
        return new CoordinatorOptions(
                nodeId(),
                kafka,
                config.get(OFFSETS_PARTITIONS),
                config.get(TRANSACTION_PARTITIONS),
                config.get(SHARE_PARTITIONS),
                config.get(COORDINATOR_BATCH_BYTES));
    }

    /** What clients see of all this. Secrets stay out. */
    BrokerConfigs forClients() {
        List<BrokerConfigs.Entry> entries = new ArrayList<>();
        for (ConfigKey<?> key : schema().keys()) {
            if (!isSecret(key)) {
                Optional<String> set = config.isSet(key) ? config.find(key).map(ServingConfig::text) : Optional.empty();
                entries.add(new BrokerConfigs.Entry(key.name(), set, key.defaultText(), key.doc()));
            }
        }
        return new BrokerConfigs(entries);
    }

    private static boolean isSecret(ConfigKey<?> key) {
        return key.name().contains("secret") || key.name().contains("access.key");
    }

    private static String text(Object value) {
        return value instanceof List<?> list
                ? list.stream().map(Object::toString).collect(Collectors.joining(","))
                : value.toString();
    }

    private static long orShare(long bytes, int divisor) {
        return bytes >= 0 ? Math.max(1, bytes) : Runtime.getRuntime().maxMemory() / divisor;
    }

    private static ConfigKey<Long> number(String name, String doc, long least) {
        return ConfigKey.number(name, doc + " Kafka's default if left out.", least, Long.MAX_VALUE)
                .optional();
    }
}
