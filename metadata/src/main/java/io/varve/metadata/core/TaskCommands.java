package io.varve.metadata.core;

import static io.varve.metadata.core.Rejection.unless;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.CommitOffloadCommand;
import io.varve.protocol.meta.FailTaskCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Decides what bookies report: how their tasks ended, and what became of their replicas. */
final class TaskCommands {

    private TaskCommands() {}

    /** The object was read back and verified (I-10): from here on it is where its segments are. */
    static void commitOffload(Draft draft, CommitOffloadCommand command) {
        BookieTask task = find(draft, command.getTask());
        unless(task instanceof BookieTask.Offload, Reason.INVALID, "Task " + task.taskId() + " is no offload");
        BookieTask.Offload offload = (BookieTask.Offload) task;
        ObjectRef object = ProtoModel.fromProto(command.getObject());
        String key = draft.attemptKey(offload);
        unless(object.key().equals(key), Reason.INVALID, "The object of task " + task.taskId() + " has the key " + key);
        List<SegmentDescriptor> segments = new ArrayList<>();
        offload.segments().forEach(id -> segments.add(draft.image().find(id)));
        long start = segments.get(0).startOffset();
        long end = segments.get(segments.size() - 1).endOffset();
        unless(
                object.startOffset() == start && object.endOffset() == end,
                Reason.INVALID,
                "The object of task " + task.taskId() + " must hold the offsets from " + start + " to " + end);
        draft.remove(task);
        for (SegmentDescriptor segment : segments) {
            draft.put(Segments.offloaded(segment, object));
            draft.forgetRetry(segment.id());
        }
    }

    static void complete(Draft draft, long taskId) {
        BookieTask task = find(draft, taskId);
        if (task instanceof BookieTask.DeleteReplica delete) {
            draft.remove(task);
            if (isInObject(draft.image().find(delete.segment()))) {
                draft.forgetRetry(delete.segment());
            }
        } else if (task instanceof BookieTask.DeleteObject delete) {
            draft.remove(task);
            draft.forgetObject(delete.key());
        } else if (task instanceof BookieTask.CopyReplica copy) {
            draft.remove(task);
            addReplica(draft, copy.segment(), new Replica(copy.bookie(), copy.incarnation()));
        } else {
            throw new Rejection(
                    Reason.INVALID, "An offload ends with its object, and work on a manifest with it: task " + taskId);
        }
    }

    static void fail(Draft draft, FailTaskCommand command) {
        BookieTask task = find(draft, command.getTask());
        String reason = command.getReason();
        if (task instanceof BookieTask.Offload offload) {
            if (command.getLeftNothing()) {
                // While a store is away each segment is tried every half a minute, and to have all those keys deleted,
                // none of which was ever written, would be most of the work there is.
                draft.remove(task);
            } else {
                draft.withdraw(task, draft.nowMs());
            }
            offload.segments().forEach(id -> draft.retryLater(id, reason));
        } else if (task instanceof BookieTask.CopyReplica copy) {
            draft.remove(task);
            draft.retryLater(copy.segment(), reason);
        } else if (task instanceof BookieTask.DeleteObject delete) {
            draft.remove(task);
            DeadObject before = draft.image().taskIndex().deadObjects().get(delete.key());
            draft.deadObject(
                    delete.key(),
                    before == null
                            ? new DeadObject(Retry.after(0, draft.nowMs(), reason))
                            : before.later(draft.nowMs(), reason));
        } else if (task instanceof BookieTask.BuildManifest || task instanceof BookieTask.PruneManifest) {
            ManifestCommands.fail(draft, task, reason);
        } else if (task instanceof BookieTask.DeleteReplica delete) {
            takeBack(draft, delete, reason);
        }
    }

    /**
     * A bookie kept a copy, which it has read from end to end, because the object that takes its place is gone (S3): it may be the last there is, and is read again from here on. It isn't ordered to be deleted
     * again for a while. If there is nothing to take back the order stands until it is carried out, for nobody else can.
     */
    private static void takeBack(Draft draft, BookieTask.DeleteReplica delete, String reason) {
        SegmentDescriptor segment = draft.image().find(delete.segment());
        boolean isInService = draft.image()
                .bookie(delete.bookie())
                .filter(bookie -> bookie.incarnations().contains(delete.incarnation()))
                .isPresent();
        if (isInService
                && isInObject(segment)
                && Segments.on(segment.replicas(), delete.bookie()).isEmpty()) {
            draft.remove(delete);
            addReplica(draft, segment.id(), new Replica(delete.bookie(), delete.incarnation()));
            draft.retryLater(segment.id(), reason);
        }
    }

    /**
     * A bookie was to delete a copy whose object is gone, and the copy is damaged as well. The order stands, and is tried again by the bookie: all that is to be done here is to remember why, for whoever looks (S3).
     */
    static void reportStuck(Draft draft, long taskId, String reason) {
        BookieTask task = find(draft, taskId);
        unless(task instanceof BookieTask.DeleteReplica, Reason.INVALID, "Task " + taskId + " can be given to others");
        SegmentId segment = ((BookieTask.DeleteReplica) task).segment();
        if (isInObject(draft.image().find(segment))) {
            draft.retryLater(segment, reason);
        }
    }

    private static boolean isInObject(SegmentDescriptor segment) {
        return segment != null && segment.state() == SegmentDescriptor.State.SEALED && segment.isOffloaded();
    }

    static void confirm(Draft draft, SegmentId id, BookieId bookie) {
        SegmentDescriptor segment = sealed(draft, id);
        Optional<Replica> unconfirmed = Segments.on(segment.unconfirmed(), bookie);
        if (unconfirmed.isPresent()) {
            addReplica(draft, id, unconfirmed.get());
            withdrawCopies(draft, id, bookie);
        } else {
            unless(
                    Segments.on(segment.replicas(), bookie).isPresent(),
                    Reason.NOT_FOUND,
                    "Bookie " + bookie + " is no replica of segment " + id);
        }
    }

    /**
     * A replica is lost or damaged. It is read no longer and its remains are deleted, unless it is the last there is: a damaged last copy may still hold most
     * of what it held, and nothing is gained by deleting it.
     */
    static void reportLost(Draft draft, SegmentId id, BookieId bookie) {
        SegmentDescriptor segment = draft.image().find(id);
        if (segment == null || segment.state() != SegmentDescriptor.State.SEALED) {
            // What is still written to belongs to its owner, who learns of it from the bookie itself (I-5).
            return;
        }
        Optional<Replica> lost =
                Segments.on(segment.replicas(), bookie).or(() -> Segments.on(segment.unconfirmed(), bookie));
        List<Replica> left = Segments.without(segment.replicas(), bookie);
        if (lost.isEmpty() || left.isEmpty() && !segment.isOffloaded()) {
            return;
        }
        draft.put(Segments.withReplicas(segment, left, Segments.without(segment.unconfirmed(), bookie)));
        withdrawCopies(draft, id, bookie);
        draft.deleteReplica(segment, lost.get());
    }

    private static void addReplica(Draft draft, SegmentId id, Replica replica) {
        SegmentDescriptor segment = draft.image().find(id);
        List<Replica> replicas = Segments.plus(segment.replicas(), replica);
        List<Replica> unconfirmed = Segments.without(segment.unconfirmed(), replica.bookie());
        int wanted = draft.image()
                .topic(segment.partition().topic())
                .map(t -> t.replicas())
                .orElse(replicas.size());
        List<Replica> superfluous = new ArrayList<>();
        for (Replica candidate : List.copyOf(replicas)) {
            if (replicas.size() > wanted && !isStaying(draft.image(), candidate.bookie())) {
                replicas = Segments.without(replicas, candidate.bookie());
                superfluous.add(candidate);
            }
        }
        draft.put(Segments.withReplicas(segment, replicas, unconfirmed));
        draft.forgetRetry(id);
        superfluous.forEach(r -> draft.deleteReplica(segment, r));
    }

    private static void withdrawCopies(Draft draft, SegmentId id, BookieId bookie) {
        for (Long taskId : draft.image().taskIndex().idsOf(id)) {
            BookieTask task = draft.image().taskIndex().byId().get(taskId).task();
            if (task instanceof BookieTask.CopyReplica && task.bookie().equals(bookie)) {
                draft.remove(task);
            }
        }
    }

    private static boolean isStaying(MetadataImage image, BookieId bookie) {
        return image.bookie(bookie).filter(b -> b.state().isStaying()).isPresent();
    }

    private static SegmentDescriptor sealed(Draft draft, SegmentId id) {
        SegmentDescriptor segment = draft.image().find(id);
        boolean isSealed = segment != null && segment.state() == SegmentDescriptor.State.SEALED;
        unless(isSealed, Reason.NOT_FOUND, "No sealed segment " + id);
        return segment;
    }

    static BookieTask find(Draft draft, long taskId) {
        GivenTask given = draft.image().taskIndex().byId().get(taskId);
        unless(given != null, Reason.NOT_FOUND, "Task " + taskId + " was withdrawn, or has ended");
        return given.task();
    }
}
