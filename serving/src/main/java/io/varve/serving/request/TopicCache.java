package io.varve.serving.request;

import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigs;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;

/** The parsed configuration of topics, so that a Produce doesn't parse it. Safe for any thread. */
public final class TopicCache implements MetadataListener {

    private final ConcurrentHashMap<TopicId, Parsed> byId = new ConcurrentHashMap<>();

    /** What holds for {@code topic} in {@code view}. */
    public TopicRules rules(MetadataView view, Topic topic) {
        Parsed parsed = byId.get(topic.id());
        SortedMap<String, String> cluster = view.clusterConfigs();
        if (parsed != null && parsed.topic == topic && (parsed.cluster == cluster || parsed.cluster.equals(cluster))) {
            return parsed.rules;
        }
        TopicRules rules = TopicRules.of(TopicConfigs.of(topic, cluster));
        byId.put(topic.id(), new Parsed(topic, cluster, rules));
        return rules;
    }

    /** Forgets topics that are gone. */
    @Override
    public void onChange(MetadataView before, MetadataView after, MetadataDelta delta) {
        for (TopicId topic : delta.topics()) {
            if (after.topic(topic).isEmpty()) {
                byId.remove(topic);
            }
        }
    }

    /**
     * What of a topic's configuration a Produce looks at.
     *
     * @param maxBatchBytes {@code max.message.bytes}
     * @param compression {@code compression.type}
     * @param compacted whether every record needs a key
     * @param logAppendTime whether {@code message.timestamp.type} is LogAppendTime
     * @param timestampBeforeMaxMs {@code message.timestamp.before.max.ms}
     * @param timestampAfterMaxMs {@code message.timestamp.after.max.ms}
     */
    public record TopicRules(
            int maxBatchBytes,
            String compression,
            boolean compacted,
            boolean logAppendTime,
            long timestampBeforeMaxMs,
            long timestampAfterMaxMs) {

        private static TopicRules of(TopicConfigs configs) {
            return new TopicRules(
                    configs.maxMessageBytes(),
                    configs.get("compression.type"),
                    configs.compacted(),
                    configs.get("message.timestamp.type").equals("LogAppendTime"),
                    configs.longOf("message.timestamp.before.max.ms"),
                    configs.longOf("message.timestamp.after.max.ms"));
        }
    }

    private record Parsed(Topic topic, SortedMap<String, String> cluster, TopicRules rules) {}
}
