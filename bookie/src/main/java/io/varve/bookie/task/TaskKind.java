package io.varve.bookie.task;

import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieTask;
import java.util.Locale;
import java.util.Optional;

/** The kinds of task. */
public enum TaskKind {
    /** {@link BookieTask.Offload} */
    OFFLOAD,
    /** {@link BookieTask.DeleteReplica} */
    DELETE_REPLICA,
    /** {@link BookieTask.CopyReplica} */
    COPY_REPLICA,
    /** {@link BookieTask.DeleteObject} */
    DELETE_OBJECT,
    /** {@link BookieTask.BuildManifest} */
    BUILD_MANIFEST,
    /** {@link BookieTask.PruneManifest} */
    PRUNE_MANIFEST;

    /** The kind of a task. */
    public static TaskKind of(BookieTask task) {
        if (task instanceof BookieTask.Offload) {
            return OFFLOAD;
        } else if (task instanceof BookieTask.DeleteReplica) {
            return DELETE_REPLICA;
        } else if (task instanceof BookieTask.CopyReplica) {
            return COPY_REPLICA;
        } else if (task instanceof BookieTask.BuildManifest) {
            return BUILD_MANIFEST;
        } else if (task instanceof BookieTask.PruneManifest) {
            return PRUNE_MANIFEST;
        } else {
            return DELETE_OBJECT;
        }
    }

    /** The segment whose local replica a task makes or destroys: two tasks that do so to one segment are carried out one after the other. */
    static Optional<SegmentId> replicaChanged(BookieTask task) {
        if (task instanceof BookieTask.DeleteReplica delete) {
            return Optional.of(delete.segment());
        } else if (task instanceof BookieTask.CopyReplica copy) {
            return Optional.of(copy.segment());
        } else {
            return Optional.empty();
        }
    }

    /** Its name in metrics. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
