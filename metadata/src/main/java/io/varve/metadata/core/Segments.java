package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.SegmentDescriptor.State;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Segments with one thing changed. */
final class Segments {

    private Segments() {}

    static SegmentDescriptor opened(SegmentDescriptor pending, long startOffset) {
        return new SegmentDescriptor(
                pending.id(),
                pending.partition(),
                pending.epoch(),
                State.OPEN,
                startOffset,
                SegmentDescriptor.UNSEALED,
                pending.acks(),
                pending.replicas(),
                List.of(),
                -1,
                -1,
                pending.createdMs(),
                -1,
                Optional.empty());
    }

    static SegmentDescriptor sealed(
            SegmentDescriptor open,
            long endOffset,
            List<Replica> holders,
            List<Replica> unconfirmed,
            long bytes,
            long maxTimestampMs,
            long nowMs) {
        return new SegmentDescriptor(
                open.id(),
                open.partition(),
                open.epoch(),
                State.SEALED,
                open.startOffset(),
                endOffset,
                open.acks(),
                holders,
                unconfirmed,
                bytes,
                maxTimestampMs,
                open.createdMs(),
                nowMs,
                Optional.empty());
    }

    /**
     * A rewrite that takes its place in the chain.
     *
     * @param createdMs of the first of what it replaces that compaction hasn't looked through; its own if there is none
     * @param sealedMs of the newest of what it replaces: its age is theirs
     */
    static SegmentDescriptor rewritten(
            SegmentDescriptor rewrite,
            List<Replica> holders,
            List<Replica> unconfirmed,
            long bytes,
            long maxTimestampMs,
            long createdMs,
            long sealedMs,
            long compactedEnd) {
        return new SegmentDescriptor(
                rewrite.id(),
                rewrite.partition(),
                rewrite.epoch(),
                State.SEALED,
                rewrite.startOffset(),
                rewrite.endOffset(),
                rewrite.acks(),
                holders,
                unconfirmed,
                bytes,
                maxTimestampMs,
                createdMs,
                sealedMs,
                Optional.empty(),
                compactedEnd);
    }

    static SegmentDescriptor withReplicas(SegmentDescriptor sealed, List<Replica> replicas, List<Replica> unconfirmed) {
        return new SegmentDescriptor(
                sealed.id(),
                sealed.partition(),
                sealed.epoch(),
                sealed.state(),
                sealed.startOffset(),
                sealed.endOffset(),
                sealed.acks(),
                replicas,
                unconfirmed,
                sealed.bytes(),
                sealed.maxTimestampMs(),
                sealed.createdMs(),
                sealed.sealedMs(),
                sealed.object(),
                sealed.compactedEnd());
    }

    static SegmentDescriptor offloaded(SegmentDescriptor sealed, ObjectRef object) {
        return new SegmentDescriptor(
                sealed.id(),
                sealed.partition(),
                sealed.epoch(),
                sealed.state(),
                sealed.startOffset(),
                sealed.endOffset(),
                sealed.acks(),
                sealed.replicas(),
                sealed.unconfirmed(),
                sealed.bytes(),
                sealed.maxTimestampMs(),
                sealed.createdMs(),
                sealed.sealedMs(),
                Optional.of(object),
                sealed.compactedEnd());
    }

    /** The replica on that bookie, if there is one. */
    static Optional<Replica> on(List<Replica> replicas, BookieId bookie) {
        for (Replica replica : replicas) {
            if (replica.bookie().equals(bookie)) {
                return Optional.of(replica);
            }
        }
        return Optional.empty();
    }

    static List<Replica> without(List<Replica> replicas, BookieId bookie) {
        List<Replica> left = new ArrayList<>(replicas);
        left.removeIf(replica -> replica.bookie().equals(bookie));
        return left;
    }

    static List<Replica> plus(List<Replica> replicas, Replica replica) {
        List<Replica> more = without(replicas, replica.bookie());
        more.add(replica);
        return more;
    }
}
