package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.Fence;
import io.varve.bookie.core.NeededFiles;
import io.varve.bookie.core.SegmentIndex;
import io.varve.bookie.core.SegmentReplica;
import java.util.List;

/**
 * A replica with where its bytes are: a settled prefix in a file of its own, and the rest in the journal. Changed by its directory's journal thread, read by any.
 */
final class Replica {

    /** How far it has come. */
    enum Phase {
        /** Its creation is queued. */
        PENDING,
        /** It is in the journal's order. */
        LIVE,
        /** Refused or deleted. */
        GONE
    }

    /**
     * What was moved into the segment's own file.
     *
     * @param end exclusive; the segment's start if nothing was
     * @param bytes of entries, from the file's first entry on
     */
    record Settled(long end, long bytes) {}

    final SegmentReplica state;
    final DirectoryStore directory;
    final SegmentIndex index = new SegmentIndex();
    volatile Phase phase;
    volatile Settled settled;
    /** With what is on its way. Journal's thread. */
    Settled acceptedSettled;

    volatile ReplicaInfo.Health health = ReplicaInfo.Health.INTACT;
    /** The newest, durable ones. */
    volatile List<CheckpointRef> checkpoints = List.of();
    /** With those that are on their way. */
    List<CheckpointRef> acceptedCheckpoints = List.of();

    volatile long bytes;
    /** The acknowledgement that {@link AckBatch} holds back for this replica. */
    SegmentStore.AppendCallback heldCallback;

    long heldEnd;

    Replica(SegmentReplica state, DirectoryStore directory, Phase phase) {
        this.state = state;
        this.directory = directory;
        this.phase = phase;
        settle(new Settled(state.startOffset(), 0));
    }

    /** Before anybody else knows the replica: so much of it is settled. */
    final void settle(Settled found) {
        settled = found;
        acceptedSettled = found;
    }

    void addCheckpoint(CheckpointRef checkpoint) {
        acceptedCheckpoints = CheckpointRef.add(acceptedCheckpoints, checkpoint);
    }

    void onCheckpointDurable(CheckpointRef checkpoint) {
        checkpoints = CheckpointRef.add(checkpoints, checkpoint);
    }

    SegmentId id() {
        return state.id();
    }

    boolean isLive() {
        return phase == Phase.LIVE;
    }

    /** Whether a journal file holds something of it that is not elsewhere. */
    boolean isIn(long file) {
        for (CheckpointRef checkpoint : checkpoints) {
            if (checkpoint.file() == file) {
                return true;
            }
        }
        return index.isIn(file);
    }

    /** Notes the journal files that hold something of it that is not elsewhere. */
    void markFiles(NeededFiles needed) {
        for (CheckpointRef checkpoint : checkpoints) {
            needed.add(checkpoint.file());
        }
        index.markFiles(needed);
    }

    /** Whether it has files of its own. Journal's thread. */
    boolean hasFiles() {
        return acceptedSettled.bytes() > 0
                || acceptedCheckpoints.stream().anyMatch(checkpoint -> checkpoint.file() == CheckpointRef.SETTLED);
    }

    /** Whether it can stand for the whole of a sealed segment. */
    boolean isWhole(long startOffset, long endOffset) {
        return isLive()
                && isIntact()
                && !directory.isOutOfService()
                && state.startOffset() == startOffset
                && state.durableEnd() >= endOffset;
    }

    /** Whether its directory takes nothing more for it. */
    boolean isRefused() {
        return directory.refuses(state.fence().partition());
    }

    boolean isIntact() {
        return health == ReplicaInfo.Health.INTACT;
    }

    /** What its bookie says of it to a new owner: the truth, or UNKNOWN (I-5). As {@link DirectoryStore#describeHere}. */
    FenceReply describe(long expectedIncarnation, Fence fence, boolean accepted) {
        boolean vouched = isIntact()
                && !directory.isOutOfService()
                && state.fence() == fence
                && (expectedIncarnation == 0 || expectedIncarnation == directory.incarnation());
        if (!vouched) {
            return new FenceReply(BookieStatus.UNKNOWN, -1, -1, directory.incarnation(), false, fence.epoch());
        }
        return new FenceReply(
                BookieStatus.OK,
                accepted ? state.acceptedEnd() : state.durableEnd(),
                state.highWatermark(),
                directory.incarnation(),
                state.sealedEnd() != SegmentReplica.UNSEALED,
                fence.epoch());
    }

    ReplicaInfo info() {
        return new ReplicaInfo(
                id(),
                state.fence().partition(),
                state.epoch(),
                state.startOffset(),
                state.durableEnd(),
                state.highWatermark(),
                state.sealedEnd(),
                bytes,
                directory.incarnation(),
                health);
    }
}
