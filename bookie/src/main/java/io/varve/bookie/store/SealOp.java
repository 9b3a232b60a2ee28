package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalWriter;

/** Notes where a segment ends. */
final class SealOp extends ReplicaOp {

    private final int epoch;
    private final long endOffset;

    SealOp(Replica replica, int epoch, long endOffset) {
        super(replica);
        this.epoch = epoch;
        this.endOffset = endOffset;
    }

    @Override
    protected int roomBytes() {
        return JournalFormat.recordBytes(RecordType.SEAL, 0);
    }

    @Override
    protected void encode(JournalWriter to) {
        if (!replica.isLive()) {
            status = BookieStatus.NO_SUCH_SEGMENT;
        } else if (!replica.isIntact()) {
            status = BookieStatus.UNKNOWN;
        } else if (replica.state.fence().refuses(epoch) || epoch < replica.state.epoch()) {
            status = BookieStatus.FENCED;
        } else if (endOffset < replica.state.startOffset()) {
            status = BookieStatus.INVALID;
        } else if (replica.state.seal(epoch, endOffset)) {
            Records.writeSeal(to, replica.id(), endOffset, epoch);
        }
    }
}
