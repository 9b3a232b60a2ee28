package io.varve.base;

import java.util.Objects;

/**
 * One partition of one topic.
 *
 * @param topic the topic's id, never its name: names can be used again, ids can't
 * @param index the partition's number in its topic, from 0
 */
public record PartitionId(TopicId topic, int index) implements Comparable<PartitionId> {

    public PartitionId {
        Objects.requireNonNull(topic, "topic");
        if (index < 0) {
            throw new IllegalArgumentException("A partition's index is not negative: " + index);
        }
    }

    @Override
    public int compareTo(PartitionId other) {
        int byTopic = topic.compareTo(other.topic);
        return byTopic != 0 ? byTopic : Integer.compare(index, other.index);
    }

    @Override
    public String toString() {
        return topic + "-" + index;
    }
}
