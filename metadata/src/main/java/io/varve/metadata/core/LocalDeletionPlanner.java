package io.varve.metadata.core;

import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.TopicConfigs;
import io.varve.protocol.meta.DropLocalStep;
import io.varve.protocol.meta.DropReplicaStep;
import io.varve.protocol.meta.PlanStep;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;

/**
 * Local copies of what object storage holds: deleted after {@code local.retention.ms}, and from bookies that are being emptied at once. A sealed segment that is a chain's last one keeps its
 * copies: the next owner begins with what it says, and is not to wait for object storage.
 */
final class LocalDeletionPlanner {

    /** A copy that a bookie kept because its object is gone is looked after again so much later: objects that were lost come back by somebody's hand. */
    private static final long KEPT_MS = 600_000;

    private LocalDeletionPlanner() {}

    /** Whether a bookie kept a copy not long ago because the object that takes its place is gone. */
    static boolean isKept(Planner planner, SegmentDescriptor segment) {
        Retry kept = planner.image.taskIndex().retries().get(segment.id());
        return kept != null && planner.nowMs < kept.notBeforeMs() + KEPT_MS;
    }

    static long plan(Planner planner, long after) {
        Iterator<SegmentId> rest = planner.image
                .segmentIndex()
                .inBoth()
                .tailSet(new SegmentId(Math.max(1, after + 1)), true)
                .iterator();
        long last = after;
        for (int i = 0; i < Planner.SEGMENTS_PER_LOOK && rest.hasNext() && !planner.isFull(); i++) {
            SegmentDescriptor segment = planner.image.find(rest.next());
            last = segment.id().value();
            Optional<TopicConfigs> configs =
                    planner.configsOf(segment.partition().topic());
            if (isKept(planner, segment)) {
                continue;
            }
            if (configs.isPresent() && isOld(planner, segment, configs.get()) && !isLast(planner, segment)) {
                planner.step(PlanStep.newBuilder()
                        .setDropLocal(DropLocalStep.newBuilder().setSegment(last)));
            } else {
                leaveDraining(planner, segment);
            }
        }
        return rest.hasNext() ? last : 0;
    }

    private static boolean isOld(Planner planner, SegmentDescriptor segment, TopicConfigs configs) {
        return configs.tiered()
                && configs.localRetentionMs() >= 0
                && planner.nowMs - segment.ageStampMs() > configs.localRetentionMs();
    }

    private static boolean isLast(Planner planner, SegmentDescriptor segment) {
        return planner.image
                .partition(segment.partition())
                .flatMap(partition -> partition.chain().last())
                .filter(last -> last.id().equals(segment.id()))
                .isPresent();
    }

    private static void leaveDraining(Planner planner, SegmentDescriptor segment) {
        List<Replica> all = new ArrayList<>(segment.replicas());
        all.addAll(segment.unconfirmed());
        for (Replica replica : all) {
            boolean isDraining = planner.image
                    .bookie(replica.bookie())
                    .filter(b -> b.state() == BookieInfo.State.DRAINING)
                    .isPresent();
            if (isDraining) {
                planner.step(PlanStep.newBuilder()
                        .setDropReplica(DropReplicaStep.newBuilder()
                                .setSegment(segment.id().value())
                                .setBookie(replica.bookie().value())));
            }
        }
    }
}
