package io.varve.metadata.model;

import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * The configuration that holds for one topic: what was set on it, else what was set for the cluster under the broker's key, else the default of
 * {@link TopicConfigSchema}. Parsed once; immutable. A value that doesn't parse (a cluster-wide key that somebody set by hand) counts as not set.
 */
public final class TopicConfigs {

    /** A bound that doesn't exist: retention for ever, no limit of bytes. */
    public static final long INFINITE = -1;

    private static final long AS_TOTAL_RETENTION = -2;

    private final Map<String, String> ofTopic;
    private final Map<String, String> ofCluster;

    private final long retentionMs;
    private final long retentionBytes;
    private final long localRetentionMs;
    private final long localRetentionBytes;
    private final int segmentBytes;
    private final long segmentMs;
    private final int maxMessageBytes;
    private final boolean compacted;
    private final boolean deleted;
    private final boolean tiered;
    private final boolean offloaded;

    private TopicConfigs(Map<String, String> ofTopic, Map<String, String> ofCluster) {
        this.ofTopic = ofTopic;
        this.ofCluster = ofCluster;
        this.retentionMs = longOf("retention.ms");
        this.retentionBytes = longOf("retention.bytes");
        this.localRetentionMs = orTotal(longOf("local.retention.ms"), retentionMs);
        this.localRetentionBytes = orTotal(longOf("local.retention.bytes"), retentionBytes);
        this.segmentBytes = intOf("segment.bytes");
        this.maxMessageBytes = intOf("max.message.bytes");
        List<String> policies = ConfigDefinition.elements(get("cleanup.policy"));
        this.compacted = policies.contains("compact");
        this.deleted = policies.contains("delete");
        // Only what is sealed can be compacted, so nothing may stay open for longer than it may wait for that.
        this.segmentMs =
                compacted ? Math.min(longOf("segment.ms"), longOf("max.compaction.lag.ms")) : longOf("segment.ms");
        this.tiered = booleanOf("remote.storage.enable");
        this.offloaded = tiered && !booleanOf("remote.log.copy.disable");
    }

    /** What holds for {@code topic} under the cluster's dynamic configuration. */
    public static TopicConfigs of(Topic topic, Map<String, String> clusterConfigs) {
        return new TopicConfigs(topic.configs(), clusterConfigs);
    }

    /** What holds for a topic on which {@code configs} was set. */
    public static TopicConfigs of(Map<String, String> configs, Map<String, String> clusterConfigs) {
        return new TopicConfigs(Objects.requireNonNull(configs), Objects.requireNonNull(clusterConfigs));
    }

    /**
     * The value of any key, as text.
     *
     * @throws IllegalArgumentException if there is no such key
     */
    public String get(String name) {
        ConfigDefinition definition = TopicConfigSchema.find(name)
                .orElseThrow(() -> new IllegalArgumentException("Unknown topic config name: " + name));
        String value = ofTopic.get(name);
        if (isGood(definition, value)) {
            return value.trim();
        }
        value = definition.brokerKey().map(ofCluster::get).orElse(null);
        return isGood(definition, value) ? value.trim() : definition.defaultValue();
    }

    /** The value of any key of type INT. */
    public int intOf(String name) {
        return Integer.parseInt(get(name));
    }

    /** The value of any key of type LONG. */
    public long longOf(String name) {
        return Long.parseLong(get(name));
    }

    /** The value of any key of type DOUBLE. */
    public double doubleOf(String name) {
        return Double.parseDouble(get(name));
    }

    /** The value of any key of type BOOLEAN. */
    public boolean booleanOf(String name) {
        return Boolean.parseBoolean(get(name));
    }

    /** {@code retention.ms}; {@link #INFINITE} for ever. */
    public long retentionMs() {
        return retentionMs;
    }

    /** {@code retention.bytes}; {@link #INFINITE} without bound. */
    public long retentionBytes() {
        return retentionBytes;
    }

    /** {@code local.retention.ms}, with -2 resolved to {@link #retentionMs}. */
    public long localRetentionMs() {
        return localRetentionMs;
    }

    /** {@code local.retention.bytes}, with -2 resolved to {@link #retentionBytes}. */
    public long localRetentionBytes() {
        return localRetentionBytes;
    }

    /** {@code segment.bytes}. */
    public int segmentBytes() {
        return segmentBytes;
    }

    /** {@code segment.ms}; of a topic to be compacted no more than {@code max.compaction.lag.ms}. */
    public long segmentMs() {
        return segmentMs;
    }

    /** {@code max.message.bytes}. */
    public int maxMessageBytes() {
        return maxMessageBytes;
    }

    /** Whether {@code cleanup.policy} names compact. */
    public boolean compacted() {
        return compacted;
    }

    /** Whether {@code cleanup.policy} names delete: retention applies. */
    public boolean deletedByRetention() {
        return deleted;
    }

    /**
     * Whether object storage is a tier of the topic's: local copies of what is there are deleted after local retention. If not, nothing more is uploaded, and what bookies
     * hold stays there; what they no longer hold is read from object storage all the same.
     */
    public boolean tiered() {
        return tiered;
    }

    /** Whether sealed segments go to object storage now: tiered, and not paused for the topic. */
    public boolean offloaded() {
        return offloaded;
    }

    private static long orTotal(long local, long total) {
        return local == AS_TOTAL_RETENTION ? total : local;
    }

    private static boolean isGood(ConfigDefinition definition, String value) {
        return value != null && definition.problemOf(value).isEmpty();
    }
}
