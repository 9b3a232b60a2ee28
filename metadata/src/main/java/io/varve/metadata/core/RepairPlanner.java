package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.DropReplicaStep;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.RepairStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Keeps R healthy copies of what object storage doesn't hold. A replica that was behind at the seal is first waited for, then told to complete itself; a bookie that went
 * away is waited for, for it is mostly only restarting; one that is being emptied counts as gone at once, but is read from. What has the fewest copies left is copied first, and what has a
 * single one left need not wait until others are done.
 */
final class RepairPlanner {

    private final Planner planner;

    /** What is to be copied, by how many living copies there are. */
    private final TreeMap<Integer, List<Wanted>> wanted = new TreeMap<>();

    private int underReplicated;

    RepairPlanner(Planner planner) {
        this.planner = planner;
    }

    /** A copy to be made: at a certain place, or wherever there is room. */
    private record Wanted(SegmentDescriptor segment, Optional<Replica> place) {}

    /** Looks at a sealed segment that is on bookies alone. */
    void look(SegmentDescriptor segment) {
        int wantedCopies =
                planner.image.topic(segment.partition().topic()).orElseThrow().replicas();
        int healthy = 0;
        int awaited = 0;
        int living = 0;
        for (Replica replica : segment.replicas()) {
            healthy += isCounted(replica.bookie()) ? 1 : 0;
            living += planner.isAlive(replica.bookie()) ? 1 : 0;
        }
        underReplicated += living < wantedCopies ? 1 : 0;
        Replica behind = null;
        for (Replica replica : segment.unconfirmed()) {
            boolean isLate = planner.nowMs - segment.sealedMs() >= planner.settings.confirmDelayMs();
            if (isLate && isWell(replica.bookie())) {
                behind = replica;
            }
            awaited += isCounted(replica.bookie()) ? 1 : 0;
        }
        if (healthy >= wantedCopies) {
            dropSuperfluous(segment);
        } else if (living > 0 && (healthy + awaited < wantedCopies || behind != null)) {
            boolean isElsewhere = healthy + awaited < wantedCopies;
            wanted.computeIfAbsent(living, copies -> new ArrayList<>())
                    .add(new Wanted(segment, isElsewhere ? Optional.empty() : Optional.of(behind)));
        }
    }

    /** Gives out the copies that were found to be wanted, as many as bookies may be at work on. */
    void give() {
        wanted.forEach((living, copies) -> {
            int most = living == 1 ? 2 * planner.settings.copiesPerBookie() : planner.settings.copiesPerBookie();
            for (Wanted copy : copies) {
                if (planner.isFull() || !isRoomSomewhere(most)) {
                    return;
                }
                if (!isEarly(copy.segment()) && !isWorkedOn(copy.segment())) {
                    Optional<Replica> place = copy.place().isEmpty()
                            ? placeFor(copy.segment(), living, most)
                            : copy.place().filter(there -> copiesAt(there.bookie()) < most);
                    place.ifPresent(there -> copyTo(copy.segment(), there));
                }
            }
        });
    }

    /** How many of the segments looked at have fewer copies on living bookies than they should have. */
    int underReplicated() {
        return underReplicated;
    }

    /** Whether a replica there is a copy to rely on. */
    private boolean isCounted(BookieId id) {
        Optional<BookieInfo> bookie = planner.image.bookie(id);
        return isWell(id)
                || bookie.filter(b -> b.state() == BookieInfo.State.GONE
                                && !planner.image.nodeIndex().drainWanted().contains(id)
                                && planner.nowMs - b.goneSinceMs() < planner.settings.repairDelayMs())
                        .isPresent();
    }

    private boolean isWell(BookieId id) {
        return planner.image.bookie(id).filter(b -> b.state().isStaying()).isPresent();
    }

    private int copiesAt(BookieId id) {
        return planner.copies().getOrDefault(id, 0);
    }

    private boolean isRoomSomewhere(int most) {
        return planner.image.bookies().stream()
                .anyMatch(bookie -> planner.isAlive(bookie.id()) && copiesAt(bookie.id()) < most);
    }

    /**
     * Where a copy is to be made now; empty if it has to wait. It waits for a bookie in a rack of its own, too, if there is one that is only busy, unless it is the second copy of what has only one.
     */
    private Optional<Replica> placeFor(SegmentDescriptor segment, int living, int most) {
        Set<BookieId> holders = new TreeSet<>();
        segment.replicas().forEach(r -> holders.add(r.bookie()));
        segment.unconfirmed().forEach(r -> holders.add(r.bookie()));
        Set<BookieId> staying = new TreeSet<>(holders);
        staying.removeIf(holder -> !isCounted(holder));
        Set<BookieId> unfit = new TreeSet<>();
        for (Long taskId : planner.image.taskIndex().idsOf(segment.id())) {
            unfit.add(planner.image.taskIndex().byId().get(taskId).task().bookie());
        }
        Set<BookieId> unfitOrBusy = new TreeSet<>(unfit);
        for (BookieInfo bookie : planner.image.bookies()) {
            if (copiesAt(bookie.id()) >= most) {
                unfitOrBusy.add(bookie.id());
            }
        }
        long seed = segment.id().value();
        Optional<Replica> now = PlacementPlanner.placeOneMore(planner.image, holders, staying, unfitOrBusy, seed);
        if (now.isEmpty() || living == 1 || !isInRackOf(staying, now.get())) {
            return now;
        }
        return PlacementPlanner.placeOneMore(planner.image, holders, staying, unfit, seed)
                .filter(later -> isInRackOf(staying, later))
                .flatMap(noBetter -> now);
    }

    private boolean isInRackOf(Set<BookieId> others, Replica place) {
        String rack = planner.image.bookie(place.bookie()).orElseThrow().rack();
        return others.stream()
                .anyMatch(id -> planner.image
                        .bookie(id)
                        .filter(other -> other.rack().equals(rack))
                        .isPresent());
    }

    private boolean isEarly(SegmentDescriptor segment) {
        Retry retry = planner.image.taskIndex().retries().get(segment.id());
        return retry != null && retry.notBeforeMs() > planner.nowMs;
    }

    private void copyTo(SegmentDescriptor segment, Replica place) {
        planner.copies().merge(place.bookie(), 1, Integer::sum);
        planner.step(PlanStep.newBuilder()
                .setRepair(RepairStep.newBuilder()
                        .setSegment(segment.id().value())
                        .setBookie(place.bookie().value())
                        .setIncarnation(place.incarnation())));
    }

    /** A copy is being made already, or the segment is on its way to object storage and needs none. */
    private boolean isWorkedOn(SegmentDescriptor segment) {
        for (Long taskId : planner.image.taskIndex().idsOf(segment.id())) {
            BookieTask task = planner.image.taskIndex().byId().get(taskId).task();
            if (!(task instanceof BookieTask.DeleteReplica)) {
                return true;
            }
        }
        return false;
    }

    /** With enough healthy copies, those that nobody needs go: on bookies being emptied, long gone, or never confirmed. */
    private void dropSuperfluous(SegmentDescriptor segment) {
        for (Replica replica : segment.unconfirmed()) {
            if (planner.nowMs - segment.sealedMs() >= planner.settings.confirmDelayMs()) {
                drop(segment, replica);
            }
        }
        for (Replica replica : segment.replicas()) {
            if (!isCounted(replica.bookie())) {
                drop(segment, replica);
            }
        }
    }

    private void drop(SegmentDescriptor segment, Replica replica) {
        if (!planner.isFull()) {
            planner.step(PlanStep.newBuilder()
                    .setDropReplica(DropReplicaStep.newBuilder()
                            .setSegment(segment.id().value())
                            .setBookie(replica.bookie().value())));
        }
    }
}
