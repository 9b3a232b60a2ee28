package io.varve.metadata.core;

import static io.varve.metadata.core.Rejection.unless;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.AdvanceLogStartCommand;
import io.varve.protocol.meta.AllocateSegmentCommand;
import io.varve.protocol.meta.PartitionIdProto;
import io.varve.protocol.meta.ReleaseCommand;
import io.varve.protocol.meta.RollCommand;
import io.varve.protocol.meta.SealProto;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** Decides what owners ask for their partitions: all of it by compare-and-set on the epoch (I-14). */
final class SegmentCommands {

    /** How many segments of a partition can be pending; the oldest goes when there is one more. */
    static final int PENDING_MAX = 4;

    private SegmentCommands() {}

    static SegmentId allocate(Draft draft, AllocateSegmentCommand command) {
        PartitionState partition = owned(draft, command.getPartition(), command.getEpoch());
        Topic topic = draft.image().topic(partition.id().topic()).orElseThrow();
        Set<BookieId> avoid = new TreeSet<>();
        command.getAvoidList().forEach(id -> avoid.add(new BookieId(id)));
        List<Replica> replicas = place(draft, topic, avoid, draft.seed());
        unless(
                replicas.size() >= topic.acks(),
                Reason.NOT_ENOUGH_BOOKIES,
                "A segment of " + topic.name() + "-" + partition.id().index() + " needs " + topic.acks()
                        + " bookies that take writes; there are " + replicas.size());
        return allocate(draft, partition, topic, replicas, command.getStartOffset());
    }

    /**
     * Allocates for whoever owns the partition from now on the segment to go on in, so that a takeover needn't ask for it. Nothing if there are not enough bookies now: the owner asks, and hears why.
     *
     * @param partition as it is after the change of owner
     */
    static void allocateForTakeover(Draft draft, PartitionState partition) {
        Topic topic = draft.image().topic(partition.id().topic()).orElseThrow();
        // Each partition gets another turn at ties.
        long seed = draft.seed() + draft.image().counters().nextSegment();
        List<Replica> replicas = place(draft, topic, List.of(), seed);
        if (replicas.size() >= topic.acks()) {
            long startOffset =
                    partition.chain().open().map(SegmentDescriptor::startOffset).orElseGet(() -> sealedEnd(partition));
            allocate(draft, partition, topic, replicas, startOffset);
        }
    }

    static List<Replica> place(Draft draft, Topic topic, Collection<BookieId> avoid, long seed) {
        return PlacementPlanner.place(
                draft.image(), topic.replicas(), topic.acks(), InternalTopics.isInternal(topic.name()), avoid, seed);
    }

    private static SegmentId allocate(
            Draft draft, PartitionState partition, Topic topic, List<Replica> replicas, long startOffset) {
        MetadataImage image = draft.image();
        List<SegmentId> pending = new ArrayList<>(image.segmentIndex().pendingOf(partition.id()));
        pending.removeIf(other -> image.find(other).isRewrite());
        if (pending.size() >= PENDING_MAX) {
            dropPending(draft, pending.get(0));
        }
        SegmentId id = new SegmentId(image.counters().nextSegment());
        draft.put(new SegmentDescriptor(
                id,
                partition.id(),
                partition.epoch(),
                State.PENDING,
                startOffset,
                SegmentDescriptor.UNSEALED,
                topic.acks(),
                replicas,
                List.of(),
                -1,
                -1,
                draft.nowMs(),
                -1,
                Optional.empty()));
        return id;
    }

    static void roll(Draft draft, RollCommand command) {
        PartitionState partition = owned(draft, command.getPartition(), command.getEpoch());
        SegmentDescriptor opened = draft.image().segmentIndex().pending().get(new SegmentId(command.getOpened()));
        boolean isOurs = opened != null && !opened.isRewrite() && isOf(partition, opened);
        unless(isOurs, Reason.NOT_FOUND, "Segment " + command.getOpened() + " is not pending for this owner");
        long startOffset = sealIfOpen(draft, partition, command.hasSeal() ? command.getSeal() : null);
        draft.put(Segments.opened(opened, startOffset));
        for (SegmentId other : draft.image().segmentIndex().pendingOf(partition.id())) {
            // A rewrite is of what stands behind the open segment, which a roll doesn't touch.
            if (!draft.image().find(other).isRewrite()) {
                dropPending(draft, other);
            }
        }
    }

    /** Whether a pending segment was allocated for the present owner. */
    static boolean isOf(PartitionState partition, SegmentDescriptor pending) {
        return pending.partition().equals(partition.id()) && pending.epoch() == partition.epoch();
    }

    static void release(Draft draft, ReleaseCommand command) {
        PartitionState partition = owned(draft, command.getPartition(), command.getEpoch());
        sealIfOpen(draft, partition, command.hasSeal() ? command.getSeal() : null);
        int owner = command.hasSuccessor() && isLive(draft.image(), command.getSuccessor())
                ? command.getSuccessor()
                : new OwnershipPlanner(draft.image()).choose(partition.id(), partition.owner());
        OwnershipPlanner.give(draft, partition, owner);
    }

    static void advanceLogStart(Draft draft, AdvanceLogStartCommand command) {
        PartitionState partition = owned(draft, command.getPartition(), command.getEpoch());
        long offset = command.getLogStartOffset();
        if (offset <= partition.logStartOffset()) {
            return;
        }
        boolean isWithin = partition.chain().open().isPresent() || offset <= sealedEnd(partition);
        unless(isWithin, Reason.INVALID, "Offset " + offset + " lies beyond the end of the log");
        draft.putPartition(partition.id(), partition.owner(), partition.epoch(), offset);
    }

    /** Drops a pending segment: nothing in it counts (I-6), but bookies may have created it. */
    static void dropPending(Draft draft, SegmentId id) {
        SegmentDescriptor segment = draft.image().segmentIndex().pending().get(id);
        draft.remove(segment);
        segment.replicas().forEach(replica -> draft.deleteReplica(segment, replica));
    }

    /** The end of a chain without an open segment. */
    static long sealedEnd(PartitionState partition) {
        return partition
                .chain()
                .last()
                .map(SegmentDescriptor::endOffset)
                .or(() -> partition.chain().manifest().map(ManifestRef::endOffset))
                .orElse(partition.logStartOffset());
    }

    static PartitionState owned(Draft draft, PartitionIdProto id, int epoch) {
        PartitionId partition = ProtoModel.fromProto(id);
        PartitionState state = draft.image()
                .partition(partition)
                .orElseThrow(() -> new Rejection(Reason.NOT_FOUND, "No partition " + partition));
        unless(
                state.epoch() == epoch,
                Reason.STALE_EPOCH,
                "Partition " + partition + " is at epoch " + state.epoch() + ", not " + epoch);
        return state;
    }

    /** Seals the open segment as told and returns where the next one starts. An empty one leaves the chain. */
    private static long sealIfOpen(Draft draft, PartitionState partition, SealProto seal) {
        SegmentDescriptor open = partition.chain().open().orElse(null);
        if (open == null) {
            unless(seal == null, Reason.CHAIN_MOVED, "Partition " + partition.id() + " has no open segment");
            return sealedEnd(partition);
        }
        unless(
                seal != null && seal.getSegment() == open.id().value(),
                Reason.CHAIN_MOVED,
                "The open segment of " + partition.id() + " is " + open.id());
        unless(
                seal.getEndOffset() >= open.startOffset(),
                Reason.INVALID,
                "Segment " + open.id() + " starts at " + open.startOffset() + " and can't end at "
                        + seal.getEndOffset());
        List<Replica> holders = new ArrayList<>();
        List<Replica> others = new ArrayList<>();
        for (Replica replica : open.replicas()) {
            boolean holds = seal.getHoldersList().contains(replica.bookie().value());
            (holds ? holders : others).add(replica);
        }
        if (seal.getEndOffset() == open.startOffset()) {
            draft.put(Segments.sealed(open, seal.getEndOffset(), open.replicas(), List.of(), 0, -1, draft.nowMs()));
            draft.remove(draft.image().find(open.id()));
            open.replicas().forEach(replica -> draft.deleteReplica(open, replica));
        } else {
            unless(!holders.isEmpty(), Reason.INVALID, "Segment " + open.id() + " can't be sealed with no holder");
            others.removeIf(replica -> isLost(draft.image(), replica));
            // The sealer may have asked it before it lost its disk. If all are lost, their names are all that is left.
            if (!holders.stream().allMatch(replica -> isLost(draft.image(), replica))) {
                holders.removeIf(replica -> isLost(draft.image(), replica));
            }
            draft.put(Segments.sealed(
                    open,
                    seal.getEndOffset(),
                    holders,
                    others,
                    seal.getBytes(),
                    seal.getMaxTimestampMs(),
                    draft.nowMs()));
        }
        return seal.getEndOffset();
    }

    /** Whether the directory that held a replica is no longer in service at its bookie. */
    static boolean isLost(MetadataImage image, Replica replica) {
        BookieInfo bookie = image.bookie(replica.bookie()).orElse(null);
        return bookie == null
                || replica.incarnation() != 0 && !bookie.incarnations().contains(replica.incarnation());
    }

    private static boolean isLive(MetadataImage image, int broker) {
        return image.broker(broker)
                .filter(b -> b.state() == BrokerInfo.State.LIVE)
                .isPresent();
    }
}
