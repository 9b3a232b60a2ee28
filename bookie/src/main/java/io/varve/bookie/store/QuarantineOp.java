package io.varve.bookie.store;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalWriter;

/** Remembers across restarts that a replica is damaged. */
final class QuarantineOp extends ReplicaOp {

    QuarantineOp(Replica replica) {
        super(replica);
    }

    @Override
    protected int roomBytes() {
        return JournalFormat.recordBytes(RecordType.QUARANTINE, 0);
    }

    @Override
    protected void encode(JournalWriter to) {
        if (replica.isLive()) {
            Records.writeSegmentOnly(to, RecordType.QUARANTINE, replica.id());
        }
    }
}
