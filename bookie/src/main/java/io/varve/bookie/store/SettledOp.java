package io.varve.bookie.store;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalWriter;
import java.util.List;

/** A prefix of a replica, and its checkpoints, are durable in files of its own: from here on they are read there. */
final class SettledOp extends ReplicaOp {

    private final Replica.Settled settled;
    private final List<Long> checkpointOffsets;

    SettledOp(Replica replica, Replica.Settled settled, List<Long> checkpointOffsets) {
        super(replica);
        this.settled = settled;
        this.checkpointOffsets = List.copyOf(checkpointOffsets);
    }

    @Override
    protected int roomBytes() {
        return JournalFormat.recordBytes(RecordType.SETTLED, 0);
    }

    @Override
    protected void encode(JournalWriter to) {
        if (replica.isLive()) {
            Records.writeSettled(to, replica.id(), settled);
            // A snapshot that is taken before this is durable must know it, because it stands for the record.
            replica.acceptedSettled = settled;
            replica.acceptedCheckpoints = CheckpointFile.repoint(replica.acceptedCheckpoints, checkpointOffsets);
        }
    }

    @Override
    protected void onDurable() {
        replica.settled = settled;
        replica.checkpoints = CheckpointFile.repoint(replica.checkpoints, checkpointOffsets);
        replica.index.dropBelow(settled.end());
        super.onDurable();
    }
}
