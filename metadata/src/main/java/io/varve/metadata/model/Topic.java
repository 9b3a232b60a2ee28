package io.varve.metadata.model;

import io.varve.base.TopicId;
import java.util.Map;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * A topic.
 *
 * @param id its identity
 * @param name its name, unique among the living
 * @param partitions how many it has; only grows
 * @param replicas R: copies of each segment
 * @param acks A: how many must hold an entry durably before it is acknowledged
 * @param configs what was set on the topic itself, by Kafka's names; defaults are not in here
 */
public record Topic(
        TopicId id, String name, int partitions, int replicas, int acks, SortedMap<String, String> configs) {
    public Topic {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(name, "name");
        configs = java.util.Collections.unmodifiableSortedMap(new TreeMap<>((Map<String, String>) configs));
    }
}
