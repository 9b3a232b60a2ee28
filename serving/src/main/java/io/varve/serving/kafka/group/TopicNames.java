package io.varve.serving.kafka.group;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Topic;
import io.varve.serving.kafka.metadata.KafkaImage;
import java.util.Optional;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.protocol.Errors;

/** Finds the topics that requests name, by id in newer versions and by name in older ones. */
record TopicNames(MetadataView view, boolean byId) {

    Optional<Topic> find(Uuid id, String name) {
        return byId ? view.topic(KafkaImage.topicId(id)) : view.topic(name);
    }

    /** What to answer for a topic that isn't there. */
    Errors unknownTopic() {
        return byId ? Errors.UNKNOWN_TOPIC_ID : Errors.UNKNOWN_TOPIC_OR_PARTITION;
    }

    static Uuid idOf(Topic topic) {
        return KafkaImage.uuid(topic.id());
    }
}
