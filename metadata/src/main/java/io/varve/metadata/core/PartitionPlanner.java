package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.metadata.model.TopicConfigs;
import io.varve.protocol.meta.DropLocalStep;
import io.varve.protocol.meta.DropPendingStep;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.RetentionStep;
import io.varve.protocol.meta.TrimStep;
import java.util.Iterator;
import java.util.Optional;
import org.pcollections.TreePMap;

/**
 * Looks at partitions: retention, by Kafka's rules, moves the start of the log; what lies below the start is taken out of the chain; pending segments of older epochs are
 * dropped; what deleted topics left is cleared away.
 */
final class PartitionPlanner {

    private static final int TRIM_SEGMENTS_MAX = 50;

    private PartitionPlanner() {}

    static Optional<PartitionId> plan(Planner planner, Optional<PartitionId> after) {
        for (PartitionId condemned : planner.image.partitionIndex().condemned().keySet()) {
            if (planner.isFull()) {
                return after;
            }
            clear(planner, planner.image.partitionIndex().condemned().get(condemned));
        }
        TreePMap<PartitionId, PartitionState> living =
                planner.image.partitionIndex().living();
        Iterator<PartitionState> rest = (after.isPresent() ? living.tailMap(after.get(), false) : living)
                .values()
                .iterator();
        PartitionId last = null;
        for (int i = 0; i < Planner.PARTITIONS_PER_LOOK && rest.hasNext() && !planner.isFull(); i++) {
            PartitionState partition = rest.next();
            last = partition.id();
            planner.configsOf(last.topic()).ifPresent(configs -> look(planner, partition, configs));
        }
        return rest.hasNext() ? Optional.ofNullable(last).or(() -> after) : Optional.empty();
    }

    private static void look(Planner planner, PartitionState partition, TopicConfigs configs) {
        for (SegmentId pending : planner.image.segmentIndex().pendingOf(partition.id())) {
            SegmentDescriptor segment = planner.image.find(pending);
            if (segment.epoch() < partition.epoch() || RewriteCommands.isFutile(partition, segment)) {
                planner.step(PlanStep.newBuilder()
                        .setDropPending(DropPendingStep.newBuilder().setSegment(pending.value())));
            }
        }
        long start = Retention.startOf(partition, configs, planner.nowMs);
        if (start > partition.logStartOffset()) {
            planner.step(PlanStep.newBuilder()
                    .setRetention(RetentionStep.newBuilder()
                            .setPartition(ProtoModel.toProto(partition.id()))
                            .setLogStartOffset(start)));
        }
        SegmentDescriptor first = partition.chain().first().orElse(null);
        if (first != null
                && first.state() == State.SEALED
                && first.endOffset() <= start
                && partition.chain().size() > 1
                && partition.chain().manifest().isEmpty()) {
            trim(planner, partition.id());
        }
        if (configs.tiered() && configs.localRetentionBytes() >= 0) {
            dropLocalBySize(planner, partition, configs.localRetentionBytes());
        }
        // What is in a manifest is out of compaction's reach.
        ManifestPlanner.look(planner, partition, !configs.compacted());
    }

    private static void clear(Planner planner, PartitionState condemned) {
        if (condemned.chain().size() > 0 || condemned.chain().manifest().isEmpty()) {
            trim(planner, condemned.id());
        }
        ManifestPlanner.look(planner, condemned, false);
    }

    private static void trim(Planner planner, PartitionId id) {
        planner.step(PlanStep.newBuilder()
                .setTrim(TrimStep.newBuilder()
                        .setPartition(ProtoModel.toProto(id))
                        .setSegmentsMax(TRIM_SEGMENTS_MAX)));
    }

    /** Local copies of what is in object storage, the oldest first, as long as {@code bytesMost} stay without them; never those of the chain's last segment. */
    private static void dropLocalBySize(Planner planner, PartitionState partition, long bytesMost) {
        SegmentId last = partition.chain().last().map(SegmentDescriptor::id).orElse(null);
        long local = 0;
        for (SegmentDescriptor segment : partition.chain().segments()) {
            local += segment.replicas().isEmpty() ? 0 : Math.max(0, segment.bytes());
        }
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (segment.replicas().isEmpty()) {
                continue;
            }
            local -= Math.max(0, segment.bytes());
            boolean stays = !segment.isOffloaded() || segment.id().equals(last) || local < bytesMost;
            if (stays || planner.isFull()) {
                return;
            }
            if (LocalDeletionPlanner.isKept(planner, segment)) {
                continue;
            }
            planner.step(PlanStep.newBuilder()
                    .setDropLocal(
                            DropLocalStep.newBuilder().setSegment(segment.id().value())));
        }
    }
}
