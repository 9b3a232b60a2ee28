package io.varve.bookie.store;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalWriter;
import java.util.List;

/** A prefix of a replica, and its checkpoints, are durable in files of its own: from here on they are read there. */
final class SettledOp extends ReplicaOp {

    private final Replica.Settled settled;
    private final List<Long> checkpointsHere;
    private final List<Long> checkpointsDamaged;

    SettledOp(Replica replica, Replica.Settled settled, List<Long> checkpointsHere, List<Long> checkpointsDamaged) {
        super(replica);
        this.settled = settled;
        this.checkpointsHere = List.copyOf(checkpointsHere);
        this.checkpointsDamaged = List.copyOf(checkpointsDamaged);
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
            replica.acceptedCheckpoints = moved(replica.acceptedCheckpoints);
        }
    }

    private List<CheckpointRef> moved(List<CheckpointRef> refs) {
        List<CheckpointRef> usable = refs.stream()
                .filter(ref -> !checkpointsDamaged.contains(ref.offset()))
                .toList();
        return CheckpointFile.repoint(usable, checkpointsHere);
    }

    @Override
    protected void onDurable() {
        replica.settled = settled;
        replica.checkpoints = moved(replica.checkpoints);
        replica.index.dropBelow(settled.end());
        replica.directory.fullFiles().onReleased();
        super.onDurable();
    }
}
