package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import java.util.List;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;

/**
 * What finds segments without walking chains. Immutable.
 *
 * @param places where each segment that is open or sealed stands
 * @param pending allocated and not yet rolled in
 * @param pendingOf the pending ones by partition
 * @param localOnly sealed, not empty, and not in object storage: what is still to be offloaded or repaired
 * @param inBoth in object storage, and on bookies too
 * @param writtenOn how many pending and open segments each bookie was chosen for: its share of the writing
 */
record SegmentIndex(
        TreePMap<SegmentId, Place> places,
        TreePMap<SegmentId, SegmentDescriptor> pending,
        TreePMap<PartitionId, TreePSet<SegmentId>> pendingOf,
        TreePSet<SegmentId> localOnly,
        TreePSet<SegmentId> inBoth,
        TreePMap<BookieId, Integer> writtenOn) {

    static final SegmentIndex EMPTY = new SegmentIndex(
            TreePMap.empty(), TreePMap.empty(), TreePMap.empty(), TreePSet.empty(), TreePSet.empty(), TreePMap.empty());

    /** Where a segment stands in a chain. */
    record Place(PartitionId partition, long startOffset) {}

    TreePSet<SegmentId> pendingOf(PartitionId partition) {
        TreePSet<SegmentId> set = pendingOf.get(partition);
        return set == null ? TreePSet.empty() : set;
    }

    int writtenOn(BookieId bookie) {
        return writtenOn.getOrDefault(bookie, 0);
    }

    /** After a segment appeared ({@code old} is null), changed, or went ({@code now} is null). */
    SegmentIndex changed(SegmentDescriptor old, SegmentDescriptor now) {
        SegmentDescriptor either = now != null ? now : old;
        SegmentId id = either.id();
        return new SegmentIndex(
                now == null || now.state() == State.PENDING
                        ? places.minus(id)
                        : places.plus(id, new Place(now.partition(), now.startOffset())),
                isPending(now) ? pending.plus(id, now) : pending.minus(id),
                pendingOfChanged(either, isPending(now)),
                isLocalOnly(now) ? localOnly.plus(id) : localOnly.minus(id),
                isInBoth(now) ? inBoth.plus(id) : inBoth.minus(id),
                written(written(writtenOn, old, -1), now, 1));
    }

    private TreePMap<PartitionId, TreePSet<SegmentId>> pendingOfChanged(SegmentDescriptor segment, boolean isPending) {
        TreePSet<SegmentId> before = pendingOf(segment.partition());
        if (before.contains(segment.id()) == isPending) {
            return pendingOf;
        }
        TreePSet<SegmentId> after = isPending ? before.plus(segment.id()) : before.minus(segment.id());
        return after.isEmpty() ? pendingOf.minus(segment.partition()) : pendingOf.plus(segment.partition(), after);
    }

    private static boolean isPending(SegmentDescriptor segment) {
        return segment != null && segment.state() == State.PENDING;
    }

    private static boolean isLocalOnly(SegmentDescriptor segment) {
        return segment != null && segment.state() == State.SEALED && !segment.isOffloaded() && !segment.isEmpty();
    }

    private static boolean isInBoth(SegmentDescriptor segment) {
        return segment != null
                && segment.isOffloaded()
                && !(segment.replicas().isEmpty() && segment.unconfirmed().isEmpty());
    }

    private static TreePMap<BookieId, Integer> written(
            TreePMap<BookieId, Integer> counts, SegmentDescriptor segment, int by) {
        List<Replica> replicas = segment == null || segment.state() == State.SEALED ? List.of() : segment.replicas();
        TreePMap<BookieId, Integer> changed = counts;
        for (Replica replica : replicas) {
            int count = changed.getOrDefault(replica.bookie(), 0) + by;
            changed = count == 0 ? changed.minus(replica.bookie()) : changed.plus(replica.bookie(), count);
        }
        return changed;
    }
}
