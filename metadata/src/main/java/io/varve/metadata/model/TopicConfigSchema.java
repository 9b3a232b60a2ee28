package io.varve.metadata.model;

import io.varve.metadata.model.ConfigDefinition.Range;
import io.varve.metadata.model.ConfigDefinition.Type;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Every configuration key that a topic of Kafka's has, with Kafka's types and, where Varve doesn't differ on purpose, defaults. Keys that mean
 * nothing here are accepted all the same, so that tools and templates written for Kafka work.
 */
public final class TopicConfigSchema {

    private static final SortedMap<String, ConfigDefinition> BY_NAME = new TreeMap<>();

    static {
        longKey(
                "retention.ms",
                604_800_000L,
                "log.retention.ms",
                Range.atLeast(-1),
                "How long records are kept, in whatever tier; -1 keeps them for ever.");
        longKey(
                "retention.bytes",
                -1,
                "log.retention.bytes",
                Range.atLeast(-1),
                "How many bytes of a partition are kept, in all tiers together; -1 sets no bound.");
        longKey(
                "local.retention.ms",
                -2,
                "log.local.retention.ms",
                Range.atLeast(-2),
                "How long bookies keep what object storage holds too; -2 as long as retention.ms, -1 for ever.");
        longKey(
                "local.retention.bytes",
                -2,
                "log.local.retention.bytes",
                Range.atLeast(-2),
                "How many bytes of a partition bookies keep of what object storage holds too; -2 as many as retention.bytes, -1 sets no bound.");
        add(
                "remote.storage.enable",
                Type.BOOLEAN,
                "true",
                "",
                Range.ANY,
                List.of(),
                "Whether sealed segments go to object storage.");
        add(
                "remote.log.copy.disable",
                Type.BOOLEAN,
                "false",
                "",
                Range.ANY,
                List.of(),
                "Whether nothing more is copied to object storage.");
        add(
                "remote.log.delete.on.disable",
                Type.BOOLEAN,
                "false",
                "",
                Range.ANY,
                List.of(),
                "Accepted for Kafka's sake.");
        add(
                "segment.bytes",
                Type.INT,
                "1073741824",
                "log.segment.bytes",
                Range.atLeast(1024),
                List.of(),
                "The size at which a segment is rolled.");
        longKey(
                "segment.ms",
                604_800_000L,
                "log.roll.ms",
                Range.atLeast(1),
                "The age at which a segment with records is rolled.");
        longKey(
                "segment.jitter.ms",
                0,
                "log.roll.jitter.ms",
                Range.atLeast(0),
                "By how much at most a roll by age comes early.");
        add(
                "segment.index.bytes",
                Type.INT,
                "10485760",
                "log.index.size.max.bytes",
                Range.atLeast(4),
                List.of(),
                "Accepted for Kafka's sake.");
        add(
                "max.message.bytes",
                Type.INT,
                "1048588",
                "message.max.bytes",
                Range.atLeast(0),
                List.of(),
                "The largest record batch taken, after compression.");
        add(
                "min.insync.replicas",
                Type.INT,
                "2",
                "min.insync.replicas",
                Range.atLeast(1),
                List.of(),
                "A: how many replicas hold a record durably before it is acknowledged; never more than there are replicas.");
        add(
                "cleanup.policy",
                Type.LIST,
                "delete",
                "log.cleanup.policy",
                Range.ANY,
                List.of("compact", "delete"),
                "What happens to old records: delete, by age and size, or compact, which keeps the newest of each key.");
        add(
                "compression.type",
                Type.STRING,
                "producer",
                "compression.type",
                Range.ANY,
                List.of("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
                "How batches are compressed at rest; producer leaves them as they came.");
        add(
                "compression.gzip.level",
                Type.INT,
                "-1",
                "compression.gzip.level",
                new Range(-1, 9),
                List.of(),
                "The level when the broker compresses with gzip; -1 for the default.");
        add(
                "compression.lz4.level",
                Type.INT,
                "9",
                "compression.lz4.level",
                new Range(1, 17),
                List.of(),
                "The level when the broker compresses with lz4.");
        add(
                "compression.zstd.level",
                Type.INT,
                "3",
                "compression.zstd.level",
                new Range(-131072, 22),
                List.of(),
                "The level when the broker compresses with zstd.");
        add(
                "message.timestamp.type",
                Type.STRING,
                "CreateTime",
                "log.message.timestamp.type",
                Range.ANY,
                List.of("CreateTime", "LogAppendTime"),
                "Whose clock stamps records: the producer's or the broker's.");
        longKey(
                "message.timestamp.before.max.ms",
                Long.MAX_VALUE,
                "log.message.timestamp.before.max.ms",
                Range.atLeast(0),
                "How far a producer's time may lie before the broker's.");
        longKey(
                "message.timestamp.after.max.ms",
                3_600_000L,
                "log.message.timestamp.after.max.ms",
                Range.atLeast(0),
                "How far a producer's time may lie after the broker's.");
        longKey(
                "delete.retention.ms",
                86_400_000L,
                "log.cleaner.delete.retention.ms",
                Range.atLeast(0),
                "How long compaction keeps a tombstone that it has seen.");
        longKey(
                "min.compaction.lag.ms",
                0,
                "log.cleaner.min.compaction.lag.ms",
                Range.atLeast(0),
                "How old a record is before compaction may take it.");
        longKey(
                "max.compaction.lag.ms",
                Long.MAX_VALUE,
                "log.cleaner.max.compaction.lag.ms",
                Range.atLeast(1),
                "How old a record may become before compaction must look at it.");
        add(
                "min.cleanable.dirty.ratio",
                Type.DOUBLE,
                "0.5",
                "log.cleaner.min.cleanable.ratio",
                new Range(0, 1),
                List.of(),
                "The share of not yet compacted bytes at which compaction begins.");
        longKey(
                "flush.messages",
                Long.MAX_VALUE,
                "log.flush.interval.messages",
                Range.atLeast(1),
                "Accepted for Kafka's sake: every acknowledged record is flushed.");
        longKey(
                "flush.ms",
                Long.MAX_VALUE,
                "log.flush.interval.ms",
                Range.atLeast(0),
                "Accepted for Kafka's sake: every acknowledged record is flushed.");
        add(
                "index.interval.bytes",
                Type.INT,
                "4096",
                "log.index.interval.bytes",
                Range.atLeast(0),
                List.of(),
                "Accepted for Kafka's sake.");
        longKey(
                "file.delete.delay.ms",
                60_000L,
                "log.segment.delete.delay.ms",
                Range.atLeast(0),
                "How long objects that nothing names any longer stay, for readers that are still on them.");
        add(
                "preallocate",
                Type.BOOLEAN,
                "false",
                "log.preallocate",
                Range.ANY,
                List.of(),
                "Accepted for Kafka's sake.");
        add(
                "unclean.leader.election.enable",
                Type.BOOLEAN,
                "false",
                "unclean.leader.election.enable",
                Range.ANY,
                List.of(),
                "Accepted for Kafka's sake: a takeover never gives up acknowledged records.");
        add(
                "leader.replication.throttled.replicas",
                Type.LIST,
                "",
                "",
                Range.ANY,
                List.of(),
                "Accepted for Kafka's sake.");
        add(
                "follower.replication.throttled.replicas",
                Type.LIST,
                "",
                "",
                Range.ANY,
                List.of(),
                "Accepted for Kafka's sake.");
    }

    private TopicConfigSchema() {}

    /** All keys by name. */
    public static Collection<ConfigDefinition> all() {
        return Collections.unmodifiableCollection(BY_NAME.values());
    }

    /** The key of that name. */
    public static Optional<ConfigDefinition> find(String name) {
        return Optional.ofNullable(BY_NAME.get(name));
    }

    /** What is wrong with setting these, the first of it in a line; empty if nothing is. */
    public static Optional<String> problemOf(Map<String, String> configs) {
        for (Map.Entry<String, String> entry : new TreeMap<>(configs).entrySet()) {
            ConfigDefinition definition = BY_NAME.get(entry.getKey());
            Optional<String> problem = definition == null
                    ? Optional.of("Unknown topic config name: " + entry.getKey())
                    : definition.problemOf(entry.getValue());
            if (problem.isPresent()) {
                return problem;
            }
        }
        return Optional.empty();
    }

    private static void longKey(String name, long defaultValue, String brokerKey, Range range, String doc) {
        add(name, Type.LONG, Long.toString(defaultValue), brokerKey, range, List.of(), doc);
    }

    private static void add(
            String name,
            Type type,
            String defaultValue,
            String brokerKey,
            Range range,
            List<String> allowed,
            String doc) {
        Optional<String> broker = brokerKey.isEmpty() ? Optional.empty() : Optional.of(brokerKey);
        BY_NAME.put(name, new ConfigDefinition(name, type, defaultValue, broker, range, allowed, doc));
    }
}
