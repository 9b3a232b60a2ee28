package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieTask;
import java.util.List;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;

/**
 * Work given out, and work to be given out again. Immutable.
 *
 * @param byId every task
 * @param byBookie the ids of each bookie's
 * @param bySegment the ids of those that concern a segment
 * @param deadObjects objects to be deleted, by key, and when
 * @param objectTasks the ids of the tasks that delete them, by key
 * @param retries when segments on which work failed may be worked on again
 * @param manifests work on manifests
 */
record TaskIndex(
        TreePMap<Long, GivenTask> byId,
        TreePMap<BookieId, TreePSet<Long>> byBookie,
        TreePMap<SegmentId, TreePSet<Long>> bySegment,
        TreePMap<String, DeadObject> deadObjects,
        TreePMap<String, Long> objectTasks,
        TreePMap<SegmentId, Retry> retries,
        ManifestWork manifests) {

    static final TaskIndex EMPTY = new TaskIndex(
            TreePMap.empty(),
            TreePMap.empty(),
            TreePMap.empty(),
            TreePMap.empty(),
            TreePMap.empty(),
            TreePMap.empty(),
            ManifestWork.EMPTY);

    TreePSet<Long> idsOf(BookieId bookie) {
        TreePSet<Long> ids = byBookie.get(bookie);
        return ids == null ? TreePSet.empty() : ids;
    }

    TreePSet<Long> idsOf(SegmentId segment) {
        TreePSet<Long> ids = bySegment.get(segment);
        return ids == null ? TreePSet.empty() : ids;
    }

    TaskIndex with(GivenTask given) {
        BookieTask task = given.task();
        long id = task.taskId();
        TreePMap<SegmentId, TreePSet<Long>> segments = bySegment;
        for (SegmentId segment : segmentsOf(task)) {
            segments = segments.plus(segment, idsOf(segment).plus(id));
        }
        return new TaskIndex(
                byId.plus(id, given),
                byBookie.plus(task.bookie(), idsOf(task.bookie()).plus(id)),
                segments,
                deadObjects,
                task instanceof BookieTask.DeleteObject delete ? objectTasks.plus(delete.key(), id) : objectTasks,
                retries,
                manifests.with(task));
    }

    TaskIndex without(long id) {
        GivenTask given = byId.get(id);
        if (given == null) {
            return this;
        }
        BookieTask task = given.task();
        TreePSet<Long> ofBookie = idsOf(task.bookie()).minus(id);
        TreePMap<SegmentId, TreePSet<Long>> segments = bySegment;
        for (SegmentId segment : segmentsOf(task)) {
            TreePSet<Long> left = idsOf(segment).minus(id);
            segments = left.isEmpty() ? segments.minus(segment) : segments.plus(segment, left);
        }
        return new TaskIndex(
                byId.minus(id),
                ofBookie.isEmpty() ? byBookie.minus(task.bookie()) : byBookie.plus(task.bookie(), ofBookie),
                segments,
                deadObjects,
                task instanceof BookieTask.DeleteObject delete ? objectTasks.minus(delete.key()) : objectTasks,
                retries,
                manifests.without(task));
    }

    TaskIndex withDeadObject(String key, DeadObject dead) {
        return new TaskIndex(byId, byBookie, bySegment, deadObjects.plus(key, dead), objectTasks, retries, manifests);
    }

    TaskIndex withoutDeadObject(String key) {
        return new TaskIndex(byId, byBookie, bySegment, deadObjects.minus(key), objectTasks, retries, manifests);
    }

    TaskIndex withRetry(SegmentId segment, Retry retry) {
        TreePMap<SegmentId, Retry> changed =
                retry.attempts() == 0 ? retries.minus(segment) : retries.plus(segment, retry);
        return new TaskIndex(byId, byBookie, bySegment, deadObjects, objectTasks, changed, manifests);
    }

    TaskIndex with(ManifestWork changed) {
        return new TaskIndex(byId, byBookie, bySegment, deadObjects, objectTasks, retries, changed);
    }

    private static List<SegmentId> segmentsOf(BookieTask task) {
        if (task instanceof BookieTask.Offload offload) {
            return offload.segments();
        } else if (task instanceof BookieTask.DeleteReplica delete) {
            return List.of(delete.segment());
        } else if (task instanceof BookieTask.CopyReplica copy) {
            return List.of(copy.segment());
        }
        return List.of();
    }
}
