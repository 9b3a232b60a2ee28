package io.varve.metadata.core;

import static io.varve.metadata.core.Rejection.unless;

import io.varve.base.BookieId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.AllocateRewriteCommand;
import io.varve.protocol.meta.ReplaceSegmentsCommand;
import io.varve.protocol.meta.SealProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Decides what a partition's owner asks for its compaction: a segment to write into what it keeps of adjoining sealed ones, and later the exchange of the one for the
 * others, by compare-and-set on the epoch (I-14) and on what stands in the chain (I-8). A partition has one rewrite at a time.
 */
final class RewriteCommands {

    private RewriteCommands() {}

    static SegmentId allocate(Draft draft, AllocateRewriteCommand command) {
        PartitionState partition = SegmentCommands.owned(draft, command.getPartition(), command.getEpoch());
        List<SegmentDescriptor> inputs = inputs(draft, partition, command.getInputsList());
        Topic topic = draft.image().topic(partition.id().topic()).orElseThrow();
        for (SegmentId other : draft.image().segmentIndex().pendingOf(partition.id())) {
            if (draft.image().find(other).isRewrite()) {
                SegmentCommands.dropPending(draft, other);
            }
        }
        Set<BookieId> avoid = new TreeSet<>();
        command.getAvoidList().forEach(id -> avoid.add(new BookieId(id)));
        List<Replica> replicas = SegmentCommands.place(draft, topic, avoid, draft.seed());
        unless(
                replicas.size() >= topic.acks(),
                Reason.NOT_ENOUGH_BOOKIES,
                "A rewrite of " + topic.name() + "-" + partition.id().index() + " needs " + topic.acks()
                        + " bookies that take writes; there are " + replicas.size());
        SegmentId id = new SegmentId(draft.image().counters().nextSegment());
        draft.put(new SegmentDescriptor(
                id,
                partition.id(),
                partition.epoch(),
                State.PENDING,
                inputs.get(0).startOffset(),
                inputs.get(inputs.size() - 1).endOffset(),
                topic.acks(),
                replicas,
                List.of(),
                -1,
                -1,
                draft.nowMs(),
                -1,
                Optional.empty(),
                inputs.get(inputs.size() - 1).endOffset()));
        return id;
    }

    /** The inputs' replicas are deleted by command (I-9), and their objects by intent (I-11), once the rewrite is held by as many replicas as acknowledge an entry (I-1). */
    static void replace(Draft draft, ReplaceSegmentsCommand command) {
        PartitionState partition = SegmentCommands.owned(draft, command.getPartition(), command.getEpoch());
        SealProto seal = command.getSeal();
        SegmentDescriptor rewrite = draft.image().segmentIndex().pending().get(new SegmentId(seal.getSegment()));
        boolean isOurs = rewrite != null && rewrite.isRewrite() && SegmentCommands.isOf(partition, rewrite);
        unless(isOurs, Reason.NOT_FOUND, "Segment " + seal.getSegment() + " is no rewrite of this owner's");
        List<SegmentDescriptor> inputs = inputs(draft, partition, command.getInputsList());
        boolean fits = inputs.get(0).startOffset() == rewrite.startOffset()
                && inputs.get(inputs.size() - 1).endOffset() == rewrite.endOffset()
                && seal.getEndOffset() == rewrite.endOffset();
        unless(fits, Reason.INVALID, "Segment " + rewrite.id() + " is a rewrite of other offsets");
        List<Replica> holders = new ArrayList<>();
        List<Replica> others = new ArrayList<>();
        for (Replica replica : rewrite.replicas()) {
            if (!SegmentCommands.isLost(draft.image(), replica)) {
                boolean holds = seal.getHoldersList().contains(replica.bookie().value());
                (holds ? holders : others).add(replica);
            }
        }
        unless(
                holders.size() >= rewrite.acks(),
                Reason.NOT_ENOUGH_BOOKIES,
                "A rewrite is to be held by " + rewrite.acks() + " bookies before it counts, not " + holders.size());
        long compactedEnd = command.getCompactedEnd() == 0 ? rewrite.endOffset() : command.getCompactedEnd();
        boolean isWithin = compactedEnd > rewrite.startOffset() && compactedEnd <= rewrite.endOffset();
        unless(
                isWithin && inputs.stream().allMatch(input -> input.compactedEnd() <= compactedEnd),
                Reason.INVALID,
                "Segment " + rewrite.id() + " can't be compacted up to offset " + compactedEnd);
        withdrawManifest(draft, partition, inputs);
        inputs.forEach(input -> PlanCommands.withdrawWork(draft, input));
        draft.replaceStretch(Segments.rewritten(
                rewrite,
                holders,
                others,
                seal.getBytes(),
                seal.getMaxTimestampMs(),
                restSinceMs(rewrite, inputs, compactedEnd),
                inputs.stream().mapToLong(SegmentDescriptor::sealedMs).max().orElseThrow(),
                compactedEnd));
        inputs.forEach(input -> PlanCommands.deleteReplicas(draft, input));
        PlanCommands.deleteObjects(draft, partition.id(), inputs);
    }

    /** When the first segment was allocated that this rewrite holds something of which compaction hasn't looked at yet; the rewrite itself if it has looked at everything. */
    private static long restSinceMs(SegmentDescriptor rewrite, List<SegmentDescriptor> inputs, long compactedEnd) {
        return inputs.stream()
                .filter(input -> input.endOffset() > compactedEnd)
                .mapToLong(SegmentDescriptor::createdMs)
                .min()
                .orElse(rewrite.createdMs());
    }

    /** Whether a pending segment is a rewrite of what doesn't stand in the chain as it did. */
    static boolean isFutile(PartitionState partition, SegmentDescriptor pending) {
        return pending.isRewrite()
                && partition
                        .chain()
                        .stretch(pending.startOffset(), pending.endOffset())
                        .isEmpty();
    }

    private static List<SegmentDescriptor> inputs(Draft draft, PartitionState partition, List<Long> ids) {
        unless(
                !ids.isEmpty() && ids.size() <= SegmentChain.STRETCH_MAX,
                Reason.INVALID,
                "A rewrite is of 1 to " + SegmentChain.STRETCH_MAX + " segments, not of " + ids.size());
        List<SegmentDescriptor> inputs = new ArrayList<>();
        long end = SegmentDescriptor.UNSEALED;
        for (long id : ids) {
            SegmentDescriptor input = draft.image().find(new SegmentId(id));
            boolean fits = input != null
                    && input.partition().equals(partition.id())
                    && input.state() == State.SEALED
                    && (inputs.isEmpty() || input.startOffset() == end);
            unless(fits, Reason.CHAIN_MOVED, "Segment " + id + " isn't where a rewrite of it would be");
            end = input.endOffset();
            inputs.add(input);
        }
        return inputs;
    }

    /** A manifest in the making that would describe what goes. */
    private static void withdrawManifest(Draft draft, PartitionState partition, List<SegmentDescriptor> inputs) {
        TaskIndex tasks = draft.image().taskIndex();
        Long task = tasks.manifests().tasks().get(partition.id());
        if (task != null
                && tasks.byId().get(task).task() instanceof BookieTask.BuildManifest build
                && build.endOffset() > inputs.get(0).startOffset()) {
            draft.withdraw(build, draft.nowMs() + Planner.ABANDONED_ATTEMPT_MS);
        }
    }
}
