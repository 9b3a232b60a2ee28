package io.varve.bookie.store;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalWriter;

/** Forgets a replica (I-9: only because the metadata service said so). */
final class DeleteOp extends ReplicaOp {

    private boolean writes;

    DeleteOp(Replica replica) {
        super(replica);
    }

    @Override
    protected int roomBytes() {
        return JournalFormat.recordBytes(RecordType.DELETE, 0);
    }

    @Override
    protected void encode(JournalWriter to) {
        writes = replica.isLive();
        if (writes) {
            Records.writeSegmentOnly(to, RecordType.DELETE, replica.id());
            replica.directory.forget(replica);
        }
    }

    @Override
    protected void onDurable() {
        super.onDurable();
        if (writes) {
            replica.directory.onDeleted(replica);
        }
    }
}
