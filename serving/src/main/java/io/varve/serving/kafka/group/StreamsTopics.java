package io.varve.serving.kafka.group;

import io.varve.metadata.api.MetadataClient;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.message.CreateTopicsRequestData.CreatableTopic;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Creates the repartition and changelog topics that a streams group's topology needs. The group's next heartbeat finds them. */
final class StreamsTopics {

    private static final Logger LOG = LoggerFactory.getLogger(StreamsTopics.class);

    private final MetadataClient metadata;
    private final Set<String> underWay = ConcurrentHashMap.newKeySet();

    StreamsTopics(MetadataClient metadata) {
        this.metadata = metadata;
    }

    void create(Map<String, CreatableTopic> topics) {
        topics.forEach((name, topic) -> {
            if (underWay.add(name)) {
                create(topic);
            }
        });
    }

    private void create(CreatableTopic topic) {
        Map<String, String> configs = new TreeMap<>();
        topic.configs().forEach(config -> configs.put(config.name(), config.value()));
        metadata.createTopic(topic.name(), topic.numPartitions(), topic.replicationFactor(), configs)
                .whenComplete((created, refused) -> {
                    underWay.remove(topic.name());
                    if (refused != null) {
                        LOG.warn(
                                "event=streams_topic_refused topic={} reason=\"{}\"",
                                topic.name(),
                                refused.getMessage());
                    }
                });
    }
}
