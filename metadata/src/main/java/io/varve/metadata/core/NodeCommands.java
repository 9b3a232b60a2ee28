package io.varve.metadata.core;

import static io.varve.metadata.core.Rejection.unless;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.ExpireSessionCommand;
import io.varve.protocol.meta.RegisterBookieCommand;
import io.varve.protocol.meta.RegisterBrokerCommand;
import io.varve.protocol.meta.SetBookieStateCommand;
import io.varve.protocol.meta.SetBrokerStateCommand;
import java.util.ArrayList;
import java.util.List;

/** Decides what concerns nodes and their sessions. */
final class NodeCommands {

    private NodeCommands() {}

    static void register(Draft draft, RegisterBrokerCommand command) {
        BrokerInfo asked = ProtoModel.fromProto(command.getBroker());
        BrokerInfo old = draft.image().broker(asked.id()).orElse(null);
        if (old != null && old.state() != BrokerInfo.State.GONE && old.incarnation() != asked.incarnation()) {
            unless(
                    command.getReplace(),
                    Reason.DUPLICATE_NODE,
                    "A broker with node.id=" + asked.id() + " lives already");
            endSession(draft, old);
        }
        BrokerInfo.State state =
                asked.state() == BrokerInfo.State.DRAINING ? BrokerInfo.State.DRAINING : BrokerInfo.State.LIVE;
        draft.put(new BrokerInfo(asked.id(), asked.incarnation(), asked.rack(), asked.endpoints(), state));
        assignOrphans(draft);
    }

    static void register(Draft draft, RegisterBookieCommand command) {
        BookieInfo asked = ProtoModel.fromProto(command.getBookie());
        unless(!asked.incarnations().isEmpty(), Reason.INVALID, "A bookie without a data directory");
        BookieInfo old = draft.image().bookie(asked.id()).orElse(null);
        if (old != null && old.state() != BookieInfo.State.GONE && old.sessionId() != asked.sessionId()) {
            unless(
                    command.getReplace(),
                    Reason.DUPLICATE_NODE,
                    "A bookie with bookie.id=" + asked.id() + " lives already");
        }
        boolean drain = draft.image().nodeIndex().drainWanted().contains(asked.id());
        BookieInfo.State state = drain
                ? BookieInfo.State.DRAINING
                : asked.state() == BookieInfo.State.READ_ONLY ? BookieInfo.State.READ_ONLY : BookieInfo.State.WRITABLE;
        draft.put(with(asked, state, asked.freeBytes(), asked.totalBytes(), -1), drain);
        if (old != null) {
            loseVanished(draft, old, asked);
        }
    }

    /** What lay in directories that did not come back is lost (I-5, I-13). */
    private static void loseVanished(Draft draft, BookieInfo old, BookieInfo now) {
        List<Long> vanished = new ArrayList<>(old.incarnations());
        vanished.removeAll(now.incarnations());
        if (vanished.isEmpty()) {
            return;
        }
        List<SegmentDescriptor> hit = new ArrayList<>();
        draft.image().forEachSegment(segment -> {
            if (segment.state() == SegmentDescriptor.State.SEALED
                    && (isIn(vanished, segment.replicas(), now.id())
                            || isIn(vanished, segment.unconfirmed(), now.id()))) {
                hit.add(segment);
            }
        });
        for (SegmentDescriptor segment : hit) {
            draft.put(Segments.withReplicas(
                    segment,
                    Segments.without(segment.replicas(), now.id()),
                    Segments.without(segment.unconfirmed(), now.id())));
        }
        for (BookieTask task : draft.image().tasksOf(now.id())) {
            if (task instanceof BookieTask.DeleteReplica delete && vanished.contains(delete.incarnation())) {
                draft.remove(task);
            } else if (task instanceof BookieTask.CopyReplica copy && vanished.contains(copy.incarnation())) {
                draft.remove(task);
            }
        }
    }

    private static boolean isIn(List<Long> directories, List<Replica> replicas, BookieId bookie) {
        return Segments.on(replicas, bookie)
                .filter(r -> directories.contains(r.incarnation()))
                .isPresent();
    }

    static void setState(Draft draft, SetBrokerStateCommand command) {
        BrokerInfo broker = draft.image()
                .broker(command.getId())
                .orElseThrow(() -> new Rejection(Reason.NOT_FOUND, "No broker with node.id=" + command.getId()));
        boolean isCurrent = broker.state() != BrokerInfo.State.GONE
                && (command.getIncarnation() == 0 || command.getIncarnation() == broker.incarnation());
        unless(isCurrent, Reason.SESSION_EXPIRED, "The session of broker " + broker.id() + " has ended");
        BrokerInfo.State state = ProtoModel.fromProto(command.getState());
        if (state == BrokerInfo.State.GONE) {
            endSession(draft, broker);
        } else {
            draft.put(new BrokerInfo(broker.id(), broker.incarnation(), broker.rack(), broker.endpoints(), state));
            assignOrphans(draft);
        }
    }

    static void setState(Draft draft, SetBookieStateCommand command) {
        BookieId id = new BookieId(command.getId());
        BookieInfo bookie = draft.image()
                .bookie(id)
                .orElseThrow(() -> new Rejection(Reason.NOT_FOUND, "No bookie with bookie.id=" + id));
        boolean byOperator = command.getSessionId() == 0;
        boolean isCurrent = bookie.state() != BookieInfo.State.GONE && command.getSessionId() == bookie.sessionId();
        unless(byOperator || isCurrent, Reason.SESSION_EXPIRED, "The session of bookie " + id + " has ended");
        BookieInfo.State asked = ProtoModel.fromProto(command.getState());
        if (asked == BookieInfo.State.GONE) {
            unless(
                    !byOperator,
                    Reason.INVALID,
                    "A bookie is gone when its session ends; it can be drained and removed");
            endSession(draft, bookie);
            return;
        }
        boolean drainWanted = draft.image().nodeIndex().drainWanted().contains(id);
        // A bookie that says how its disks are doing doesn't end a drain; only an operator does.
        boolean drain = asked == BookieInfo.State.DRAINING || drainWanted && !byOperator;
        BookieInfo.State state =
                bookie.state() == BookieInfo.State.GONE ? bookie.state() : drain ? BookieInfo.State.DRAINING : asked;
        draft.put(
                byOperator
                        ? with(bookie, state, bookie.freeBytes(), bookie.totalBytes(), bookie.goneSinceMs())
                        : with(bookie, state, command.getFreeBytes(), command.getTotalBytes(), bookie.goneSinceMs()),
                drain);
    }

    static void expire(Draft draft, ExpireSessionCommand command) {
        switch (command.getNodeCase()) {
            case BROKER ->
                draft.image()
                        .broker(command.getBroker())
                        .filter(b -> b.state() != BrokerInfo.State.GONE && b.incarnation() == command.getSessionId())
                        .ifPresent(b -> endSession(draft, b));
            case BOOKIE ->
                draft.image()
                        .bookie(new BookieId(command.getBookie()))
                        .filter(b -> b.state() != BookieInfo.State.GONE && b.sessionId() == command.getSessionId())
                        .ifPresent(b -> endSession(draft, b));
            case NODE_NOT_SET -> throw new Rejection(Reason.INVALID, "A session of nobody");
        }
    }

    /** A bookie that was drained, or is lost for good, is forgotten with all that it was to do. */
    static void remove(Draft draft, BookieId id) {
        BookieInfo bookie = draft.image()
                .bookie(id)
                .orElseThrow(() -> new Rejection(Reason.NOT_FOUND, "No bookie with bookie.id=" + id));
        unless(
                bookie.state() == BookieInfo.State.GONE,
                Reason.INVALID,
                "Bookie " + id + " lives: stop it before it is removed");
        long held = draft.image().segmentsOn(id).stream()
                .filter(s -> !s.isOffloaded() && !s.isEmpty())
                .count();
        unless(
                held == 0,
                Reason.INVALID,
                "Bookie " + id + " still holds " + held + " segments that are not in object storage");
        for (SegmentDescriptor segment : draft.image().segmentsOn(id)) {
            draft.put(Segments.withReplicas(
                    segment, Segments.without(segment.replicas(), id), Segments.without(segment.unconfirmed(), id)));
        }
        for (BookieTask task : draft.image().tasksOf(id)) {
            draft.withdraw(task, draft.nowMs());
        }
        draft.remove(id);
    }

    private static void endSession(Draft draft, BrokerInfo broker) {
        draft.put(new BrokerInfo(
                broker.id(), broker.incarnation(), broker.rack(), broker.endpoints(), BrokerInfo.State.GONE));
        List<PartitionId> orphans = List.copyOf(draft.image().ownedBy(broker.id()));
        OwnershipPlanner.reassign(draft, orphans);
    }

    static void endSession(Draft draft, BookieInfo bookie) {
        boolean drain = draft.image().nodeIndex().drainWanted().contains(bookie.id());
        draft.put(with(bookie, BookieInfo.State.GONE, bookie.freeBytes(), bookie.totalBytes(), draft.nowMs()), drain);
    }

    private static void assignOrphans(Draft draft) {
        OwnershipPlanner.reassign(draft, List.copyOf(draft.image().ownedBy(PartitionState.NO_OWNER)));
    }

    private static BookieInfo with(
            BookieInfo bookie, BookieInfo.State state, long freeBytes, long totalBytes, long goneSinceMs) {
        return new BookieInfo(
                bookie.id(),
                bookie.sessionId(),
                bookie.incarnations(),
                bookie.rack(),
                bookie.host(),
                bookie.port(),
                state,
                freeBytes,
                totalBytes,
                goneSinceMs);
    }
}
