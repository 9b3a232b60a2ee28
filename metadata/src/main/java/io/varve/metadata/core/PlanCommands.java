package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.DeleteObjectStep;
import io.varve.protocol.meta.MoveStep;
import io.varve.protocol.meta.OffloadStep;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.RepairStep;
import io.varve.protocol.meta.RetentionStep;
import io.varve.protocol.meta.TrimStep;
import io.varve.protocol.meta.WithdrawTaskStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Decides the steps that {@link Planner} proposes. The planner looked at an older image on another thread, so each step is looked at again here: one that doesn't fit any
 * longer does nothing, and nothing that a step does rests on the planner having been right about what may be deleted.
 */
final class PlanCommands {

    private PlanCommands() {}

    static void carryOut(Draft draft, PlanStep step) {
        switch (step.getStepCase()) {
            case OFFLOAD -> offload(draft, step.getOffload());
            case DROP_LOCAL ->
                dropLocal(draft, new SegmentId(step.getDropLocal().getSegment()));
            case RETENTION -> retention(draft, step.getRetention());
            case TRIM -> trim(draft, step.getTrim());
            case DROP_PENDING ->
                dropPending(draft, new SegmentId(step.getDropPending().getSegment()));
            case REPAIR -> repair(draft, step.getRepair());
            case DROP_REPLICA ->
                dropReplica(
                        draft,
                        new SegmentId(step.getDropReplica().getSegment()),
                        new BookieId(step.getDropReplica().getBookie()));
            case DELETE_OBJECT -> deleteObject(draft, step.getDeleteObject());
            case MOVE -> move(draft, step.getMove());
            case BUILD_MANIFEST -> ManifestCommands.build(draft, step.getBuildManifest());
            case PRUNE_MANIFEST -> ManifestCommands.prune(draft, step.getPruneManifest());
            case WITHDRAW_TASK -> withdraw(draft, step.getWithdrawTask());
            case FORGET_CLIENT -> {
                // Not a change of the image.
            }
            case STEP_NOT_SET -> FeatureLevels.unknown("a step of a plan");
        }
    }

    private static void offload(Draft draft, OffloadStep step) {
        PartitionId partition = ProtoModel.fromProto(step.getPartition());
        BookieId bookie = new BookieId(step.getBookie());
        List<SegmentId> ids = new ArrayList<>();
        long end = SegmentDescriptor.UNSEALED;
        for (long value : step.getSegmentsList()) {
            SegmentDescriptor segment = draft.image().find(new SegmentId(value));
            boolean fits = segment != null
                    && draft.image().segmentIndex().localOnly().contains(segment.id())
                    && segment.partition().equals(partition)
                    && (ids.isEmpty() || segment.startOffset() == end)
                    && Segments.on(segment.replicas(), bookie).isPresent()
                    && !hasOffload(draft.image(), segment.id());
            if (!fits) {
                return;
            }
            end = segment.endOffset();
            ids.add(segment.id());
        }
        if (!ids.isEmpty() && draft.image().partition(partition).isPresent()) {
            draft.give(id -> new BookieTask.Offload(id, bookie, partition, ids));
        }
    }

    private static void dropLocal(Draft draft, SegmentId id) {
        if (draft.image().segmentIndex().inBoth().contains(id)) {
            SegmentDescriptor segment = draft.image().find(id);
            draft.put(Segments.withReplicas(segment, List.of(), List.of()));
            deleteReplicas(draft, segment);
        }
    }

    private static void retention(Draft draft, RetentionStep step) {
        PartitionId id = ProtoModel.fromProto(step.getPartition());
        PartitionState partition = draft.image().partition(id).orElse(null);
        if (partition == null || step.getLogStartOffset() <= partition.logStartOffset()) {
            return;
        }
        boolean isACut = partition.chain().at(step.getLogStartOffset()) != null
                || partition
                        .chain()
                        .manifest()
                        .flatMap(manifest -> manifest.markAt(step.getLogStartOffset()))
                        .isPresent();
        if (isACut) {
            draft.putPartition(id, partition.owner(), partition.epoch(), step.getLogStartOffset());
        }
    }

    /**
     * Takes segments out of a chain's head. The last segment of a living partition stays, for it says where the log goes on; and all do while there is a manifest, which
     * ends where they begin (I-8).
     */
    private static void trim(Draft draft, TrimStep step) {
        PartitionId id = ProtoModel.fromProto(step.getPartition());
        PartitionIndex index = draft.image().partitionIndex();
        boolean isCondemned = index.condemned().containsKey(id);
        for (int i = 0; i < step.getSegmentsMax(); i++) {
            PartitionState partition = draft.image().partitionIndex().find(id);
            SegmentDescriptor first =
                    partition == null ? null : partition.chain().first().orElse(null);
            if (first == null) {
                break;
            }
            boolean isBelow = first.state() == State.SEALED
                    && first.endOffset() <= partition.logStartOffset()
                    && partition.chain().size() > 1
                    && partition.chain().manifest().isEmpty();
            if (!isCondemned && !isBelow) {
                return;
            }
            removeFirst(draft, partition, first);
        }
        if (isCondemned && index.find(id) != null) {
            finishCondemned(draft, id);
        }
    }

    private static void removeFirst(Draft draft, PartitionState partition, SegmentDescriptor first) {
        withdrawWork(draft, first);
        draft.remove(first);
        deleteReplicas(draft, first);
        deleteObjects(draft, partition.id(), List.of(first));
    }

    /** Notes the intent to delete the objects of segments that left their chain (I-11), unless something else of it is in them. */
    static void deleteObjects(Draft draft, PartitionId partition, List<SegmentDescriptor> gone) {
        SegmentChain left = draft.image().partitionIndex().find(partition).chain();
        TreeMap<String, ObjectRef> dead = new TreeMap<>();
        for (SegmentDescriptor segment : gone) {
            segment.object().filter(object -> !left.names(object)).ifPresent(object -> dead.put(object.key(), object));
        }
        Retry when = new Retry(0, draft.objectsNotBeforeMs());
        dead.forEach((key, object) ->
                draft.deadObject(key, new DeadObject(when, Optional.of(DeadObject.Held.of(partition, object)))));
    }

    private static void finishCondemned(Draft draft, PartitionId id) {
        for (SegmentId pending : draft.image().segmentIndex().pendingOf(id)) {
            SegmentCommands.dropPending(draft, pending);
        }
        SegmentChain left = draft.image().partitionIndex().find(id).chain();
        if (left.size() == 0 && left.manifest().isEmpty()) {
            draft.removePartition(id);
        }
    }

    /** An upload or a copy of a segment that goes away has no point; what it made, or is making, goes as well. */
    static void withdrawWork(Draft draft, SegmentDescriptor segment) {
        for (Long taskId : draft.image().taskIndex().idsOf(segment.id())) {
            BookieTask task = draft.image().taskIndex().byId().get(taskId).task();
            if (task instanceof BookieTask.Offload) {
                draft.withdraw(task, draft.nowMs() + Planner.ABANDONED_ATTEMPT_MS);
            } else if (task instanceof BookieTask.CopyReplica copy) {
                draft.remove(task);
                draft.deleteReplica(segment, new Replica(copy.bookie(), copy.incarnation()));
            }
        }
    }

    static void deleteReplicas(Draft draft, SegmentDescriptor segment) {
        segment.replicas().forEach(replica -> draft.deleteReplica(segment, replica));
        segment.unconfirmed().forEach(replica -> draft.deleteReplica(segment, replica));
    }

    private static void dropPending(Draft draft, SegmentId id) {
        SegmentDescriptor segment = draft.image().segmentIndex().pending().get(id);
        if (segment == null) {
            return;
        }
        PartitionState partition = draft.image().partitionIndex().find(segment.partition());
        if (partition == null || partition.epoch() > segment.epoch() || RewriteCommands.isFutile(partition, segment)) {
            SegmentCommands.dropPending(draft, id);
        }
    }

    private static void repair(Draft draft, RepairStep step) {
        MetadataImage image = draft.image();
        SegmentId id = new SegmentId(step.getSegment());
        BookieId bookie = new BookieId(step.getBookie());
        if (!image.segmentIndex().localOnly().contains(id)) {
            return;
        }
        SegmentDescriptor segment = image.find(id);
        boolean fits = !segment.replicas().isEmpty()
                && Segments.on(segment.replicas(), bookie).isEmpty()
                && image.bookie(bookie)
                        .filter(b -> b.incarnations().contains(step.getIncarnation()))
                        .isPresent();
        for (Long taskId : image.taskIndex().idsOf(id)) {
            BookieTask task = image.taskIndex().byId().get(taskId).task();
            // A deletion under way would take the new copy with it.
            fits &= !task.bookie().equals(bookie) && !(task instanceof BookieTask.CopyReplica);
        }
        if (fits) {
            draft.give(taskId -> new BookieTask.CopyReplica(
                    taskId, bookie, segment.partition(), id, step.getIncarnation(), segment.replicas()));
        }
    }

    /** A copy too many, or one on a bookie that is being emptied. The wanted number of others must stay, or the object. */
    private static void dropReplica(Draft draft, SegmentId id, BookieId bookie) {
        SegmentDescriptor segment = draft.image().find(id);
        if (segment == null || segment.state() != State.SEALED) {
            return;
        }
        Optional<Replica> confirmed = Segments.on(segment.replicas(), bookie);
        Optional<Replica> dropped = confirmed.or(() -> Segments.on(segment.unconfirmed(), bookie));
        List<Replica> left = Segments.without(segment.replicas(), bookie);
        int wanted = draft.image()
                .topic(segment.partition().topic())
                .map(Topic::replicas)
                .orElse(1);
        boolean isSafe = segment.isOffloaded() || left.size() >= wanted;
        if (dropped.isPresent() && isSafe && !isCopying(draft.image(), id, bookie)) {
            draft.put(Segments.withReplicas(segment, left, Segments.without(segment.unconfirmed(), bookie)));
            draft.deleteReplica(segment, dropped.get());
        }
    }

    private static void deleteObject(Draft draft, DeleteObjectStep step) {
        TaskIndex tasks = draft.image().taskIndex();
        BookieId bookie = new BookieId(step.getBookie());
        boolean isLive = draft.image()
                .bookie(bookie)
                .filter(b -> b.state() != BookieInfo.State.GONE)
                .isPresent();
        DeadObject dead = tasks.deadObjects().get(step.getKey());
        boolean isDue = dead != null
                && dead.isDue(draft.image(), draft.nowMs())
                && !tasks.objectTasks().containsKey(step.getKey());
        if (isLive && isDue) {
            draft.give(id -> new BookieTask.DeleteObject(id, bookie, step.getKey()));
        }
    }

    private static void withdraw(Draft draft, WithdrawTaskStep step) {
        GivenTask given = draft.image().taskIndex().byId().get(step.getTask());
        if (given == null || given.task() instanceof BookieTask.DeleteReplica) {
            return;
        }
        BookieTask task = given.task();
        draft.withdraw(task, step.getObjectNotBeforeMs());
        if (task instanceof BookieTask.Offload offload) {
            offload.segments().forEach(id -> draft.retryLater(id, takenBack(task)));
        } else if (task instanceof BookieTask.CopyReplica copy) {
            SegmentDescriptor segment = draft.image().find(copy.segment());
            boolean isHolder = Segments.on(segment.unconfirmed(), copy.bookie()).isPresent();
            if (!isHolder) {
                draft.deleteReplica(segment, new Replica(copy.bookie(), copy.incarnation()));
            }
            draft.retryLater(copy.segment(), takenBack(task));
        } else if (task instanceof BookieTask.BuildManifest build) {
            draft.retryLater(build.partition(), takenBack(task));
        }
    }

    private static String takenBack(BookieTask task) {
        return "TAKEN_BACK: bookie " + task.bookie() + " was too slow, or went away";
    }

    /** Nobody proposes this any more (owners hand over by themselves), but a log that holds it must lead to the same state on every node. */
    private static void move(Draft draft, MoveStep step) {
        PartitionId id = ProtoModel.fromProto(step.getPartition());
        PartitionState partition = draft.image().partition(id).orElse(null);
        boolean fits = partition != null
                && partition.epoch() == step.getEpoch()
                && draft.image()
                        .broker(step.getTo())
                        .filter(b -> b.state() == BrokerInfo.State.LIVE)
                        .isPresent();
        if (fits) {
            draft.putPartition(id, step.getTo(), partition.epoch() + 1, partition.logStartOffset());
        }
    }

    private static boolean hasOffload(MetadataImage image, SegmentId id) {
        for (Long taskId : image.taskIndex().idsOf(id)) {
            if (image.taskIndex().byId().get(taskId).task() instanceof BookieTask.Offload) {
                return true;
            }
        }
        return false;
    }

    private static boolean isCopying(MetadataImage image, SegmentId id, BookieId bookie) {
        for (Long taskId : image.taskIndex().idsOf(id)) {
            BookieTask task = image.taskIndex().byId().get(taskId).task();
            if (task instanceof BookieTask.CopyReplica && task.bookie().equals(bookie)) {
                return true;
            }
        }
        return false;
    }
}
