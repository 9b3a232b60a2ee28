package io.varve.metadata.core;

import io.varve.base.SegmentId;
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
    static Optional<MovableStretch> of(PartitionState partition, TaskIndex tasks) {
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
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (seen >= segmentsMost || !isMovable(segment, tasks)) {
                break;
            }
            seen++;
            ObjectRef object = segment.object().orElseThrow();
            if (segment.endOffset() == object.endOffset()) {
                endOffset = segment.endOffset();
                wholeObjects = seen;
            }
        }
        return wholeObjects == 0
                ? Optional.empty()
                : Optional.of(new MovableStretch(first.startOffset(), endOffset, wholeObjects));
    }

    private static boolean isMovable(SegmentDescriptor segment, TaskIndex tasks) {
        return segment.isOffloaded()
                && segment.replicas().isEmpty()
                && segment.unconfirmed().isEmpty()
                && !isWorkedOn(segment.id(), tasks);
    }

    /** An order to delete a copy stands by itself; a copy in the making would come back to a segment that is gone. */
    private static boolean isWorkedOn(SegmentId segment, TaskIndex tasks) {
        for (Long id : tasks.idsOf(segment)) {
            if (!(tasks.byId().get(id).task() instanceof BookieTask.DeleteReplica)) {
                return true;
            }
        }
        return false;
    }
}
