package io.varve.serving.kafka.txn;

import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetrics;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetricsShard;
import org.apache.kafka.timeline.SnapshotRegistry;

/** The runtime asks for metrics of each shard; ours are counted where requests are answered. */
final class NoShardMetrics extends CoordinatorMetrics {

    @Override
    public CoordinatorMetricsShard newMetricsShard(SnapshotRegistry snapshots, TopicPartition partition) {
        return new NoMetrics(partition);
    }

    @Override
    public void activateMetricsShard(CoordinatorMetricsShard shard) {}

    @Override
    public void deactivateMetricsShard(CoordinatorMetricsShard shard) {}

    @Override
    public void onUpdateLastCommittedOffset(TopicPartition partition, long offset) {}

    private record NoMetrics(TopicPartition topicPartition) implements CoordinatorMetricsShard {
        @Override
        public void record(String sensor) {}

        @Override
        public void record(String sensor, double value) {}

        @Override
        public void commitUpTo(long offset) {}
    }
}
