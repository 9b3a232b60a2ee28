package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.journal.JournalWriter;

/** A sealed segment was copied here whole and is durable: from here on it is a replica. */
final class ImportOp extends ReplicaOp {

    ImportOp(Replica replica) {
        super(replica);
    }

    @Override
    protected int roomBytes() {
        return JournalFormat.recordBytes(RecordType.IMPORT, 0);
    }

    @Override
    protected void encode(JournalWriter to) {
        SegmentReplica state = replica.state;
        Replica other = replica.directory.shared.replicas.putIfAbsent(replica.id(), replica);
        if (other != null) {
            status = BookieStatus.INVALID;
            return;
        }
        Records.writeImport(
                to, replica.id(), state.fence().partition(), state.epoch(), state.startOffset(), replica.settled);
        replica.directory.onCreated(replica);
    }
}
