package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.DropReplicaStep;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.RepairStep;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Keeps R healthy copies of what object storage doesn't hold. A replica that was behind at the seal is first waited for, then told to complete itself; a bookie that went
 * away is waited for, for it is mostly only restarting; one that is being emptied counts as gone at once, but is read from.
 */
final class RepairPlanner {

    private RepairPlanner() {}

    static void look(Planner planner, SegmentDescriptor segment) {
        int wanted =
                planner.image.topic(segment.partition().topic()).orElseThrow().replicas();
        int healthy = 0;
        int awaited = 0;
        for (Replica replica : segment.replicas()) {
            healthy += isCounted(planner, replica.bookie()) ? 1 : 0;
        }
        Replica behind = null;
        for (Replica replica : segment.unconfirmed()) {
            boolean isLate = planner.nowMs - segment.sealedMs() >= planner.settings.confirmDelayMs();
            if (isLate && isWell(planner, replica.bookie())) {
                behind = replica;
            }
            awaited += isCounted(planner, replica.bookie()) ? 1 : 0;
        }
        if (healthy >= wanted) {
            dropSuperfluous(planner, segment);
        } else if (healthy + awaited < wanted) {
            copyElsewhere(planner, segment);
        } else if (behind != null) {
            copyTo(planner, segment, behind);
        }
    }

    /** Whether a replica there is a copy to rely on. */
    private static boolean isCounted(Planner planner, BookieId id) {
        Optional<BookieInfo> bookie = planner.image.bookie(id);
        return isWell(planner, id)
                || bookie.filter(b -> b.state() == BookieInfo.State.GONE
                                && !planner.image.nodeIndex().drainWanted().contains(id)
                                && planner.nowMs - b.goneSinceMs() < planner.settings.repairDelayMs())
                        .isPresent();
    }

    private static boolean isWell(Planner planner, BookieId id) {
        return planner.image.bookie(id).filter(b -> b.state().isStaying()).isPresent();
    }

    private static void copyElsewhere(Planner planner, SegmentDescriptor segment) {
        Set<BookieId> holders = new TreeSet<>();
        segment.replicas().forEach(r -> holders.add(r.bookie()));
        segment.unconfirmed().forEach(r -> holders.add(r.bookie()));
        Set<BookieId> busy = new TreeSet<>();
        for (BookieInfo bookie : planner.image.bookies()) {
            if (planner.copies().getOrDefault(bookie.id(), 0) >= planner.settings.copiesPerBookie()) {
                busy.add(bookie.id());
            }
        }
        for (Long taskId : planner.image.taskIndex().idsOf(segment.id())) {
            busy.add(planner.image.taskIndex().byId().get(taskId).task().bookie());
        }
        PlacementPlanner.placeOneMore(planner.image, holders, busy, segment.id().value())
                .ifPresent(place -> copyTo(planner, segment, place));
    }

    private static void copyTo(Planner planner, SegmentDescriptor segment, Replica place) {
        Retry retry = planner.image.taskIndex().retries().get(segment.id());
        boolean isEarly = retry != null && retry.notBeforeMs() > planner.nowMs;
        boolean isBusy = planner.copies().getOrDefault(place.bookie(), 0) >= planner.settings.copiesPerBookie();
        boolean hasSource = segment.replicas().stream().anyMatch(r -> planner.isAlive(r.bookie()));
        if (isEarly || isBusy || !hasSource || isWorkedOn(planner, segment) || planner.isFull()) {
            return;
        }
        planner.copies().merge(place.bookie(), 1, Integer::sum);
        planner.step(PlanStep.newBuilder()
                .setRepair(RepairStep.newBuilder()
                        .setSegment(segment.id().value())
                        .setBookie(place.bookie().value())
                        .setIncarnation(place.incarnation())));
    }

    /** A copy is being made already, or the segment is on its way to object storage and needs none. */
    private static boolean isWorkedOn(Planner planner, SegmentDescriptor segment) {
        for (Long taskId : planner.image.taskIndex().idsOf(segment.id())) {
            BookieTask task = planner.image.taskIndex().byId().get(taskId).task();
            if (!(task instanceof BookieTask.DeleteReplica)) {
                return true;
            }
        }
        return false;
    }

    /** With enough healthy copies, those that nobody needs go: on bookies being emptied, long gone, or never confirmed. */
    private static void dropSuperfluous(Planner planner, SegmentDescriptor segment) {
        for (Replica replica : segment.unconfirmed()) {
            if (planner.nowMs - segment.sealedMs() >= planner.settings.confirmDelayMs()) {
                drop(planner, segment, replica);
            }
        }
        for (Replica replica : segment.replicas()) {
            if (!isCounted(planner, replica.bookie())) {
                drop(planner, segment, replica);
            }
        }
    }

    private static void drop(Planner planner, SegmentDescriptor segment, Replica replica) {
        if (!planner.isFull()) {
            planner.step(PlanStep.newBuilder()
                    .setDropReplica(DropReplicaStep.newBuilder()
                            .setSegment(segment.id().value())
                            .setBookie(replica.bookie().value())));
        }
    }
}
