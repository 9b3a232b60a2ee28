package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.metadata.model.BookieTask;
import org.pcollections.TreePMap;

/**
 * Work on manifests, by partition: one task at a time for each, so that no pointer moves under a builder. Immutable.
 *
 * @param tasks the id of the task that builds or prunes
 * @param deadStretches what is to be deleted of a manifest
 * @param retries when a manifest whose building failed may be built again
 */
record ManifestWork(
        TreePMap<PartitionId, Long> tasks,
        TreePMap<PartitionId, DeadStretch> deadStretches,
        TreePMap<PartitionId, Retry> retries) {

    static final ManifestWork EMPTY = new ManifestWork(TreePMap.empty(), TreePMap.empty(), TreePMap.empty());

    /**
     * The intent to delete what a manifest describes below an offset (I-11).
     *
     * @param when not before the readers of yesterday are gone
     */
    record DeadStretch(long belowOffset, Retry when) {}

    ManifestWork with(BookieTask task) {
        PartitionId partition = partitionOf(task);
        return partition == null
                ? this
                : new ManifestWork(tasks.plus(partition, task.taskId()), deadStretches, retries);
    }

    ManifestWork without(BookieTask task) {
        PartitionId partition = partitionOf(task);
        return partition == null ? this : new ManifestWork(tasks.minus(partition), deadStretches, retries);
    }

    ManifestWork with(PartitionId partition, DeadStretch dead) {
        return new ManifestWork(tasks, deadStretches.plus(partition, dead), retries);
    }

    ManifestWork withoutDeadStretch(PartitionId partition) {
        return new ManifestWork(tasks, deadStretches.minus(partition), retries);
    }

    ManifestWork with(PartitionId partition, Retry retry) {
        return new ManifestWork(
                tasks,
                deadStretches,
                retry.attempts() == 0 ? retries.minus(partition) : retries.plus(partition, retry));
    }

    /** Without anything of a partition that is gone. */
    ManifestWork without(PartitionId partition) {
        return new ManifestWork(tasks.minus(partition), deadStretches.minus(partition), retries.minus(partition));
    }

    private static PartitionId partitionOf(BookieTask task) {
        if (task instanceof BookieTask.BuildManifest build) {
            return build.partition();
        }
        return task instanceof BookieTask.PruneManifest prune ? prune.partition() : null;
    }
}
