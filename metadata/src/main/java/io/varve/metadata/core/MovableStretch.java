package io.varve.metadata.core;

import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The head of a chain that can leave Raft for the partition's manifest: segments that object storage alone holds, of which no bookie has a copy left and nobody is at work on
 * one. It ends at an offset that no object lies on both sides of: none that is described below reaches beyond it, and none that is described from there on begins before it, as what is left of a merged object does
 * behind the rewrites of its first segments. So whoever compares a manifest with a listing of the bucket, where objects stand in the order in which they begin, has all of a stretch on one side. The last segment stays,
 * for it says where the log goes on; and so does the last sealed one before an open one: a takeover that needs to look into it must not have to read a manifest first.
 *
 * @param segments how many
 */
record MovableStretch(long startOffset, long endOffset, int segments) {

    /** As much as can be moved at a time; empty if nothing can. */
    static Optional<MovableStretch> of(PartitionState partition, MetadataImage image) {
        SegmentDescriptor first = partition.chain().first().orElse(null);
        long described =
                partition.chain().manifest().map(ManifestRef::endOffset).orElse(-1L);
        // What lies below the log's start is about to go, and not worth describing anew.
        boolean isDead = first == null
                || partition.logStartOffset() >= first.endOffset()
                || described >= 0 && partition.logStartOffset() >= described;
        if (isDead) {
            return Optional.empty();
        }
        List<MovableStretch> stretches = upToWholeObjects(partition, described, image);
        withoutCutObjects(stretches, partition, image);
        return stretches.isEmpty() ? Optional.empty() : Optional.of(stretches.get(stretches.size() - 1));
    }

    /** Those at whose end no object that is described in them goes on, the shortest first. */
    private static List<MovableStretch> upToWholeObjects(
            PartitionState partition, long describedEnd, MetadataImage image) {
        SegmentDescriptor last = partition.chain().last().orElseThrow();
        int stay = last.state() == SegmentDescriptor.State.OPEN ? 2 : 1;
        int segmentsMost = Math.min(
                BookieTask.BuildManifest.SEGMENTS_MAX, partition.chain().size() - stay);
        List<MovableStretch> stretches = new ArrayList<>();
        long startOffset = partition.chain().first().orElseThrow().startOffset();
        long objectsEnd = 0;
        int segments = 0;
        for (SegmentDescriptor segment : partition.chain().segments()) {
            boolean isNext = segments < segmentsMost
                    && isMovable(segment, image)
                    && segment.object().orElseThrow().startOffset() >= describedEnd;
            if (!isNext) {
                break;
            }
            segments++;
            objectsEnd = Math.max(objectsEnd, segment.object().orElseThrow().endOffset());
            if (objectsEnd == segment.endOffset()) {
                stretches.add(new MovableStretch(startOffset, objectsEnd, segments));
            }
        }
        return stretches;
    }

    /** Takes those away that end within an object which something else needs: what follows in the chain, or a restoration (ADR 0091). */
    private static void withoutCutObjects(
            List<MovableStretch> stretches, PartitionState partition, MetadataImage image) {
        if (stretches.isEmpty()) {
            return;
        }
        int lastOnes = stretches.get(stretches.size() - 1).segments() + OffloadPlanner.SEGMENTS_PER_OBJECT_MAX;
        int seen = 0;
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (++seen > lastOnes) {
                break;
            }
            // Nothing ends within an object that begins where its segment does.
            segment.object()
                    .filter(object -> object.startOffset() < segment.startOffset())
                    .ifPresent(object -> stretches.removeIf(stretch -> stretch.endOffset() <= segment.startOffset()
                            && stretch.endOffset() > object.startOffset()));
        }
        String prefix = ObjectKeys.partitionPrefix(image.bucketId(), partition.id());
        for (Map.Entry<String, DeadObject> dead :
                image.taskIndex().deadObjects().tailMap(prefix, true).entrySet()) {
            if (!dead.getKey().startsWith(prefix)) {
                break;
            }
            dead.getValue()
                    .held()
                    .filter(held -> held.isTheOnlyOneInTheBucket(image))
                    .ifPresent(held -> stretches.removeIf(stretch ->
                            stretch.endOffset() > held.startOffset() && stretch.endOffset() < held.endOffset()));
        }
    }

    private static boolean isMovable(SegmentDescriptor segment, MetadataImage image) {
        return segment.isOffloaded()
                && segment.replicas().isEmpty()
                && segment.unconfirmed().isEmpty()
                && !isWorkedOn(segment.id(), image);
    }

    /**
     * A copy in the making would come back to a segment that is gone. A bookie that is to delete one looks whether the object is there as long as the segment says which, and keeps the copy if
     * it isn't; of those that are away nobody knows when they will be back, and they are not waited for.
     */
    private static boolean isWorkedOn(SegmentId segment, MetadataImage image) {
        TaskIndex tasks = image.taskIndex();
        for (Long id : tasks.idsOf(segment)) {
            BookieTask task = tasks.byId().get(id).task();
            if (!(task instanceof BookieTask.DeleteReplica delete) || isAbleTo(delete, image)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isAbleTo(BookieTask.DeleteReplica delete, MetadataImage image) {
        return image.bookie(delete.bookie())
                .filter(bookie -> bookie.state() != BookieInfo.State.GONE)
                .filter(bookie ->
                        delete.incarnation() == 0 || bookie.incarnations().contains(delete.incarnation()))
                .isPresent();
    }
}
