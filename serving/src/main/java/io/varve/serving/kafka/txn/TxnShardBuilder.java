package io.varve.serving.kafka.txn;

import io.varve.serving.kafka.runtime.LogWriter;
import java.util.function.IntConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.utils.Time;
import org.apache.kafka.common.utils.internals.LogContext;
import org.apache.kafka.coordinator.common.runtime.CoordinatorExecutor;
import org.apache.kafka.coordinator.common.runtime.CoordinatorMetrics;
import org.apache.kafka.coordinator.common.runtime.CoordinatorRecord;
import org.apache.kafka.coordinator.common.runtime.CoordinatorShardBuilder;
import org.apache.kafka.coordinator.common.runtime.CoordinatorTimer;
import org.apache.kafka.timeline.SnapshotRegistry;

/** Makes shards as the runtime asks for them. A shard needs little of what it is offered: it reads no clock and sets no timer. */
final class TxnShardBuilder implements CoordinatorShardBuilder<TxnShard, CoordinatorRecord> {

    private final LogWriter writer;
    private final IntConsumer onLoaded;
    private SnapshotRegistry snapshots;
    private TopicPartition partition;

    TxnShardBuilder(LogWriter writer, IntConsumer onLoaded) {
        this.writer = writer;
        this.onLoaded = onLoaded;
    }

    @Override
    public TxnShardBuilder withSnapshotRegistry(SnapshotRegistry registry) {
        this.snapshots = registry;
        return this;
    }

    @Override
    public TxnShardBuilder withTopicPartition(TopicPartition topicPartition) {
        this.partition = topicPartition;
        return this;
    }

    @Override
    public TxnShardBuilder withLogContext(LogContext context) {
        return this;
    }

    @Override
    public TxnShardBuilder withTime(Time time) {
        return this;
    }

    @Override
    public TxnShardBuilder withTimer(CoordinatorTimer<CoordinatorRecord> timer) {
        return this;
    }

    @Override
    public TxnShardBuilder withExecutor(CoordinatorExecutor<CoordinatorRecord> executor) {
        return this;
    }

    @Override
    public TxnShardBuilder withCoordinatorMetrics(CoordinatorMetrics metrics) {
        return this;
    }

    @Override
    public TxnShard build() {
        int index = partition.partition();
        return new TxnShard(snapshots, () -> writer.epochOf(index), () -> onLoaded.accept(index));
    }
}
