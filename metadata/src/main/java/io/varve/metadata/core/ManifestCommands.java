package io.varve.metadata.core;

import static io.varve.metadata.core.Rejection.unless;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.BuildManifestStep;
import io.varve.protocol.meta.CommitManifestCommand;
import io.varve.protocol.meta.PruneManifestStep;
import java.util.Optional;

/**
 * Decides work on manifests. A pointer changes by compare-and-set: on the task that was given for it, on the pointer before, and on the segments that are to leave the chain; of
 * two builders one wins, and what the other wrote is deleted.
 */
final class ManifestCommands {

    /** How many keys a commit can supersede: a root, and leaves. */
    static final int SUPERSEDED_MAX = 128;

    private ManifestCommands() {}

    static void build(Draft draft, BuildManifestStep step) {
        PartitionId id = ProtoModel.fromProto(step.getPartition());
        PartitionState partition = draft.image().partition(id).orElse(null);
        if (partition == null || !mayGive(draft, id, step.getBookie())) {
            return;
        }
        MovableStretch.of(partition, draft.image())
                .ifPresent(stretch -> draft.give(task -> new BookieTask.BuildManifest(
                        task,
                        new BookieId(step.getBookie()),
                        id,
                        partition.chain().manifest(),
                        stretch.startOffset(),
                        stretch.endOffset())));
    }

    static void prune(Draft draft, PruneManifestStep step) {
        PartitionId id = ProtoModel.fromProto(step.getPartition());
        PartitionState partition = draft.image().partitionIndex().find(id);
        ManifestWork.DeadStretch dead =
                draft.image().taskIndex().manifests().deadStretches().get(id);
        boolean isDue = partition != null
                && dead != null
                && dead.when().notBeforeMs() <= draft.nowMs()
                && mayGive(draft, id, step.getBookie());
        if (isDue) {
            ManifestRef manifest = partition.chain().manifest().orElseThrow();
            draft.give(task -> new BookieTask.PruneManifest(
                    task, new BookieId(step.getBookie()), id, manifest, dead.belowOffset()));
        }
    }

    private static boolean mayGive(Draft draft, PartitionId partition, int bookie) {
        return !draft.image().taskIndex().manifests().tasks().containsKey(partition)
                && draft.image()
                        .bookie(new BookieId(bookie))
                        .filter(b -> b.state() != BookieInfo.State.GONE)
                        .isPresent();
    }

    /** What was written for a manifest was read back (I-10): from here on it is what is read. */
    static void commit(Draft draft, CommitManifestCommand command) {
        BookieTask task = TaskCommands.find(draft, command.getTask());
        Optional<ManifestRef> manifest =
                command.hasManifest() ? Optional.of(ProtoModel.fromProto(command.getManifest())) : Optional.empty();
        if (task instanceof BookieTask.BuildManifest build) {
            unless(manifest.isPresent(), Reason.INVALID, "A manifest that was built describes something");
            commit(draft, build, manifest.get(), command);
        } else if (task instanceof BookieTask.PruneManifest prune) {
            commit(draft, prune, manifest, command);
        } else {
            throw new Rejection(Reason.INVALID, "Task " + task.taskId() + " is no work on a manifest");
        }
    }

    private static void commit(
            Draft draft, BookieTask.BuildManifest task, ManifestRef manifest, CommitManifestCommand command) {
        PartitionId id = task.partition();
        PartitionState partition = draft.image().partition(id).orElse(null);
        if (partition == null || !stands(draft, partition, task)) {
            draft.withdraw(task, draft.nowMs());
            return;
        }
        long start = task.before().map(ManifestRef::startOffset).orElse(task.startOffset());
        boolean isAsked = manifest.startOffset() == start && manifest.endOffset() == task.endOffset();
        unless(
                isAsked,
                Reason.INVALID,
                "The manifest of task " + task.taskId() + " must describe the offsets from " + start + " to "
                        + task.endOffset());
        checkRoot(draft, task, manifest);
        replace(draft, id, task, Optional.of(manifest), command);
        draft.forgetRetry(id);
        draft.noteDeadStretch(id, draft.objectsNotBeforeMs());
    }

    /** Whether pointer and segments are as they were when the task was given. */
    private static boolean stands(Draft draft, PartitionState partition, BookieTask.BuildManifest task) {
        SegmentDescriptor first = partition.chain().first().orElse(null);
        Optional<MovableStretch> now = MovableStretch.of(partition, draft.image());
        return partition.chain().manifest().equals(task.before())
                && first != null
                && first.startOffset() == task.startOffset()
                && now.filter(stretch -> stretch.endOffset() >= task.endOffset())
                        .isPresent();
    }

    private static void commit(
            Draft draft, BookieTask.PruneManifest task, Optional<ManifestRef> manifest, CommitManifestCommand command) {
        PartitionId id = task.partition();
        PartitionState partition = draft.image().partitionIndex().find(id);
        boolean stands = partition != null && partition.chain().manifest().equals(Optional.of(task.manifest()));
        if (!stands) {
            draft.withdraw(task, draft.nowMs());
            return;
        }
        ManifestRef before = task.manifest();
        if (manifest.isPresent()) {
            ManifestRef after = manifest.get();
            boolean isAsked = after.startOffset() >= before.startOffset()
                    && after.startOffset() <= Math.max(before.startOffset(), task.belowOffset())
                    && after.endOffset() == before.endOffset();
            unless(isAsked, Reason.INVALID, "Task " + task.taskId() + " may prune up to " + task.belowOffset());
            if (!after.key().equals(before.key())) {
                checkRoot(draft, task, after);
            }
        } else {
            unless(
                    task.belowOffset() >= before.endOffset(),
                    Reason.INVALID,
                    "Task " + task.taskId() + " may prune up to " + task.belowOffset());
        }
        replace(draft, id, task, manifest, command);
        if (manifest.isEmpty()) {
            draft.forgetRetry(id); // There is nothing left that could keep a new one from being built.
        }
        draft.forgetDeadStretch(id);
        boolean isWaitedFor = draft.image().partitionIndex().condemned().containsKey(id)
                || partition.logStartOffset() == task.belowOffset();
        draft.noteDeadStretch(id, isWaitedFor ? draft.nowMs() : draft.objectsNotBeforeMs());
    }

    private static void checkRoot(Draft draft, BookieTask task, ManifestRef manifest) {
        PartitionId id = task instanceof BookieTask.BuildManifest build
                ? build.partition()
                : ((BookieTask.PruneManifest) task).partition();
        String key = ObjectKeys.manifestRoot(draft.image().bucketId(), id, task.taskId());
        unless(
                manifest.generation() == task.taskId() && manifest.key().equals(key),
                Reason.INVALID,
                "The root of task " + task.taskId() + " has the key " + key);
    }

    private static void replace(
            Draft draft,
            PartitionId id,
            BookieTask task,
            Optional<ManifestRef> manifest,
            CommitManifestCommand command) {
        String prefix = ObjectKeys.manifestPrefix(draft.image().bucketId(), id);
        boolean areOurs = command.getSupersededCount() <= SUPERSEDED_MAX;
        for (String key : command.getSupersededList()) {
            areOurs &= key.startsWith(prefix)
                    && manifest.filter(m -> m.key().equals(key)).isEmpty();
        }
        unless(areOurs, Reason.INVALID, "Task " + task.taskId() + " supersedes what isn't its to supersede");
        draft.remove(task);
        draft.putManifest(id, manifest);
        for (String key : command.getSupersededList()) {
            draft.deadObject(key, new Retry(0, draft.objectsNotBeforeMs()));
        }
    }

    /** Work on a manifest could not be done by its bookie. */
    static void fail(Draft draft, BookieTask task, String reason) {
        draft.withdraw(task, draft.nowMs());
        if (task instanceof BookieTask.BuildManifest build) {
            if (draft.image().partition(build.partition()).isPresent()) {
                draft.retryLater(build.partition(), reason);
            }
        } else if (task instanceof BookieTask.PruneManifest prune) {
            ManifestWork.DeadStretch dead =
                    draft.image().taskIndex().manifests().deadStretches().get(prune.partition());
            if (dead != null) {
                later(draft, prune.partition(), dead, reason);
            }
        }
    }

    /** What can't be pruned in part, for it can't be read, may be given up as a whole when the log's start has passed it. */
    private static void later(Draft draft, PartitionId id, ManifestWork.DeadStretch dead, String reason) {
        Retry later = Retry.after(dead.when().attempts(), draft.nowMs(), reason);
        long logStartOffset = draft.image().partitionIndex().find(id).logStartOffset();
        if (logStartOffset > dead.belowOffset()) {
            long notBeforeMs = Math.max(later.notBeforeMs(), draft.objectsNotBeforeMs());
            draft.deadStretch(
                    id, new ManifestWork.DeadStretch(logStartOffset, new Retry(later.attempts(), notBeforeMs, reason)));
        } else {
            draft.deadStretch(id, new ManifestWork.DeadStretch(dead.belowOffset(), later));
        }
    }
}
