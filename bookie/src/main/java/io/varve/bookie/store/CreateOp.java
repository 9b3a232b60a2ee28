package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.JournalWriter;

/** Makes a replica, or finds that it is there. */
final class CreateOp extends JournalOp {

    private final Replica replica;
    private final PartitionId partition;
    private final int epoch;
    private final long startOffset;
    private final SegmentStore.CreateCallback callback;
    private BookieStatus status;
    private boolean writes;
    private long end = -1;

    CreateOp(
            Replica replica, PartitionId partition, int epoch, long startOffset, SegmentStore.CreateCallback callback) {
        this.replica = replica;
        this.partition = partition;
        this.epoch = epoch;
        this.startOffset = startOffset;
        this.callback = callback;
    }

    @Override
    protected int roomBytes() {
        status = decide();
        writes = status == BookieStatus.OK && !replica.isLive();
        return writes ? JournalFormat.recordBytes(RecordType.CREATE, 0) : 0;
    }

    private BookieStatus decide() {
        SegmentReplica state = replica.state;
        if (!state.fence().partition().equals(partition) || state.startOffset() != startOffset) {
            return BookieStatus.INVALID;
        }
        if (state.fence().refuses(epoch) || state.epoch() != epoch) {
            return BookieStatus.FENCED;
        }
        if (replica.phase == Replica.Phase.GONE) {
            // Deleted while this was queued. Ids are never reused, so whoever still wants it is late.
            return BookieStatus.NO_SUCH_SEGMENT;
        }
        if (!replica.isIntact()) {
            return BookieStatus.UNKNOWN;
        }
        if (state.sealedEnd() != SegmentReplica.UNSEALED) {
            return BookieStatus.SEALED;
        }
        return !replica.isLive() && replica.isRefused() ? BookieStatus.READ_ONLY : BookieStatus.OK;
    }

    @Override
    protected void encode(JournalWriter to) {
        if (writes) {
            Records.writeCreate(to, replica.id(), partition, epoch, startOffset);
            replica.directory.onCreated(replica);
        } else if (replica.phase == Replica.Phase.PENDING) {
            replica.directory.forget(replica);
        }
        end = replica.isLive() ? replica.state.acceptedEnd() : -1;
    }

    @Override
    protected void onDurable() {
        replica.directory.acks.release(replica);
        callback.onCreated(status, end, status == BookieStatus.OK ? replica.directory.incarnation() : 0);
    }

    @Override
    protected void onLost() {
        replica.directory.acks.release(replica);
        callback.onCreated(BookieStatus.UNKNOWN, -1, 0);
    }
}
