package io.varve.metadata.core;

import io.varve.base.TopicId;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicNames;
import org.pcollections.TreePMap;

/**
 * The living topics. Immutable.
 *
 * @param byId all of them
 * @param byName their ids by name
 * @param byCollisionKey their names by {@link TopicNames#collisionKey}
 */
record TopicIndex(
        TreePMap<TopicId, Topic> byId, TreePMap<String, TopicId> byName, TreePMap<String, String> byCollisionKey) {

    static final TopicIndex EMPTY = new TopicIndex(TreePMap.empty(), TreePMap.empty(), TreePMap.empty());

    TopicIndex with(Topic topic) {
        return new TopicIndex(
                byId.plus(topic.id(), topic),
                byName.plus(topic.name(), topic.id()),
                byCollisionKey.plus(TopicNames.collisionKey(topic.name()), topic.name()));
    }

    TopicIndex without(TopicId id) {
        Topic topic = byId.get(id);
        return topic == null
                ? this
                : new TopicIndex(
                        byId.minus(id),
                        byName.minus(topic.name()),
                        byCollisionKey.minus(TopicNames.collisionKey(topic.name())));
    }
}
