package io.varve.serving.core.txn;

import java.util.Objects;

/**
 * A partition in a transaction, as the transaction log names it.
 *
 * @param topic name
 * @param index from 0
 */
public record TxnPartition(String topic, int index) implements Comparable<TxnPartition> {
    public TxnPartition {
        Objects.requireNonNull(topic, "topic");
    }

    @Override
    public int compareTo(TxnPartition other) {
        int byTopic = topic.compareTo(other.topic);
        return byTopic != 0 ? byTopic : Integer.compare(index, other.index);
    }

    @Override
    public String toString() {
        return topic + "-" + index;
    }
}
