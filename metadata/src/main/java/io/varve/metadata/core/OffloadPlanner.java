package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.TopicConfigs;
import io.varve.protocol.meta.OffloadStep;
import io.varve.protocol.meta.PlanStep;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What is not in object storage: uploads it, adjoining small segments of a partition as one object, by a bookie that holds all of them; or repairs it where it isn't to go
 * there, or hasn't yet.
 */
final class OffloadPlanner {

    /** No object was ever made of more. */
    static final int SEGMENTS_PER_OBJECT_MAX = 64;

    private OffloadPlanner() {}

    static long plan(Planner planner, RepairPlanner repairs, long after) {
        Iterator<SegmentId> rest = planner.image
                .segmentIndex()
                .localOnly()
                .tailSet(new SegmentId(Math.max(1, after + 1)), true)
                .iterator();
        Map<PartitionId, TreeMap<Long, SegmentDescriptor>> due = new TreeMap<>();
        boolean isPaused = ClusterConfigSchema.areUploadsPaused(planner.image.clusterConfigs());
        long last = after;
        for (int i = 0; i < Planner.SEGMENTS_PER_LOOK && rest.hasNext() && !planner.isFull(); i++) {
            SegmentDescriptor segment = planner.image.find(rest.next());
            last = segment.id().value();
            Optional<TopicConfigs> configs =
                    planner.configsOf(segment.partition().topic());
            if (configs.isEmpty()) {
                continue;
            }
            if (configs.get().offloaded() && !isPaused && isDue(planner, segment)) {
                due.computeIfAbsent(segment.partition(), p -> new TreeMap<>()).put(segment.startOffset(), segment);
            }
            repairs.look(segment);
        }
        repairs.give();
        due.forEach((partition, segments) ->
                offload(planner, partition, planner.configsOf(partition.topic()).orElseThrow(), segments));
        return rest.hasNext() ? last : 0;
    }

    private static boolean isDue(Planner planner, SegmentDescriptor segment) {
        Retry retry = planner.image.taskIndex().retries().get(segment.id());
        boolean mayTry = retry == null || retry.notBeforeMs() <= planner.nowMs;
        boolean isSettled = planner.nowMs - segment.sealedMs() >= planner.settings.offloadDelayMs();
        return mayTry && isSettled && !hasOffload(planner.image, segment.id());
    }

    private static boolean hasOffload(MetadataImage image, SegmentId id) {
        for (Long taskId : image.taskIndex().idsOf(id)) {
            if (image.taskIndex().byId().get(taskId).task() instanceof BookieTask.Offload) {
                return true;
            }
        }
        return false;
    }

    private static void offload(
            Planner planner, PartitionId partition, TopicConfigs configs, TreeMap<Long, SegmentDescriptor> segments) {
        Stretch stretch = null;
        for (SegmentDescriptor segment : segments.values()) {
            if (stretch == null || !stretch.take(segment)) {
                if (stretch != null) {
                    stretch.give();
                }
                stretch = new Stretch(planner, partition, configs, segment);
            }
        }
        if (stretch != null) {
            stretch.give();
        }
    }

    /** Adjoining segments that become one object. */
    private static final class Stretch {
        private final Planner planner;
        private final PartitionId partition;
        private final TopicConfigs configs;
        private final List<SegmentDescriptor> segments = new ArrayList<>();
        private List<BookieId> holders;
        private long bytes;

        Stretch(Planner planner, PartitionId partition, TopicConfigs configs, SegmentDescriptor first) {
            this.planner = planner;
            this.partition = partition;
            this.configs = configs;
            this.holders = aliveHolders(first);
            this.bytes = planner.bytesOf(first);
            segments.add(first);
        }

        boolean take(SegmentDescriptor next) {
            SegmentDescriptor end = segments.get(segments.size() - 1);
            List<BookieId> common = new ArrayList<>(holders);
            common.retainAll(aliveHolders(next));
            // What is rewritten segment by segment doesn't share objects: they would outlive parts of themselves.
            boolean fits = !configs.compacted()
                    && end.endOffset() == next.startOffset()
                    && bytes + planner.bytesOf(next) <= planner.settings.offloadMergeBytes()
                    && segments.size() < SEGMENTS_PER_OBJECT_MAX
                    && !common.isEmpty();
            if (fits) {
                segments.add(next);
                holders = common;
                bytes += planner.bytesOf(next);
            }
            return fits;
        }

        void give() {
            Optional<BookieId> bookie = TaskPlanner.leastBusy(
                    holders,
                    planner.offloads(),
                    planner.settings.offloadsPerBookie(),
                    planner.image.taskIndex().retries().get(segments.get(0).id()));
            if (bookie.isEmpty() || isWaitingForMore() || planner.isFull()) {
                return;
            }
            planner.offloads().merge(bookie.get(), 1, Integer::sum);
            OffloadStep.Builder step = OffloadStep.newBuilder()
                    .setPartition(ProtoModel.toProto(partition))
                    .setBookie(bookie.get().value());
            segments.forEach(s -> step.addSegments(s.id().value()));
            planner.step(PlanStep.newBuilder().setOffload(step));
        }

        private boolean isWaitingForMore() {
            long small = Math.min(planner.settings.offloadSmallBytes(), configs.segmentBytes() / 2L);
            long oldestSealMs = segments.get(0).sealedMs();
            return !configs.compacted()
                    && bytes < small
                    && planner.nowMs - oldestSealMs < planner.settings.offloadSmallWaitMs();
        }

        private List<BookieId> aliveHolders(SegmentDescriptor segment) {
            List<BookieId> alive = new ArrayList<>();
            for (Replica replica : segment.replicas()) {
                if (planner.isAlive(replica.bookie())) {
                    alive.add(replica.bookie());
                }
            }
            return alive;
        }
    }
}
