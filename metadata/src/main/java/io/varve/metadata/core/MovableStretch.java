package io.varve.metadata.core;

import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.Optional;

/**
 * The head of a chain that can leave Raft for the partition's manifest: segments that object storage alone holds, of which no bookie has a copy left and nobody is at work on
 * one, up to the end of an object, so that no object is described in two places. The last segment stays, for it says where the log goes on; and so does the last sealed one before an open one: a takeover that needs
 * to look into it must not have to read a manifest first.
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
        SegmentDescriptor last = partition.chain().last().orElseThrow();
        int stay = last.state() == SegmentDescriptor.State.OPEN ? 2 : 1;
        int segmentsMost = Math.min(
                BookieTask.BuildManifest.SEGMENTS_MAX, partition.chain().size() - stay);
        long endOffset = 0;
        int wholeObjects = 0;
        int seen = 0;
        ObjectRef before = null;
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (seen >= segmentsMost || !isMovable(segment, image)) {
                break;
            }
            ObjectRef object = segment.object().orElseThrow();
            // Whoever compares manifest and bucket goes by the keys, which say where objects begin.
            boolean isInOrder = before == null
                    ? object.startOffset() >= described
                    : object.equals(before) || object.startOffset() >= before.endOffset();
            if (!isInOrder) {
                break;
            }
            before = object;
            seen++;
            if (segment.endOffset() == object.endOffset()) {
                endOffset = segment.endOffset();
                wholeObjects = seen;
            }
        }
        return wholeObjects == 0
                ? Optional.empty()
                : Optional.of(new MovableStretch(first.startOffset(), endOffset, wholeObjects));
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
