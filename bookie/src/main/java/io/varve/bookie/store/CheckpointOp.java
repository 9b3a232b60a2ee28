package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.JournalWriter;
import java.util.zip.CRC32C;

/** An owner's checkpoint on its way into the journal. */
final class CheckpointOp extends JournalOp {

    private final Replica replica;
    private final int epoch;
    private final long offset;
    private final int stateBytes;
    private ByteBuf state;
    private boolean writes;
    private CheckpointRef written;

    /** @param state one reference is taken over */
    CheckpointOp(Replica replica, int epoch, long offset, ByteBuf state) {
        this.replica = replica;
        this.epoch = epoch;
        this.offset = offset;
        this.state = state;
        this.stateBytes = state.readableBytes();
    }

    @Override
    protected int pendingBytes() {
        return stateBytes;
    }

    @Override
    protected int roomBytes() {
        SegmentReplica of = replica.state;
        writes = replica.isLive()
                && replica.isIntact()
                && epoch == of.epoch()
                && !of.fence().refuses(epoch)
                && of.sealedEnd() == SegmentReplica.UNSEALED
                && !replica.isRefused();
        return writes ? JournalFormat.recordBytes(RecordType.CHECKPOINT, stateBytes) : 0;
    }

    @Override
    protected void encode(JournalWriter to) {
        if (writes) {
            CRC32C crc = new CRC32C();
            crc.update(state.nioBuffer());
            int at = to.begin(RecordType.CHECKPOINT, stateBytes);
            to.buffer()
                    .putLong(at, replica.id().value())
                    .putLong(at + 8, offset)
                    .putInt(at + 16, (int) crc.getValue())
                    .putInt(at + 20, 0);
            to.putPayload(state);
            long position = to.end();
            written = new CheckpointRef(offset, to.fileNumber(), position, stateBytes);
            replica.addCheckpoint(written);
        }
        releaseState();
    }

    private void releaseState() {
        if (state != null) {
            state.release();
            state = null;
        }
    }

    @Override
    protected void onDurable() {
        if (written != null) {
            replica.onCheckpointDurable(written);
            replica.directory.fullFiles().onReleased();
        }
    }

    @Override
    protected void onLost() {
        releaseState();
    }
}
