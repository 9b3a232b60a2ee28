package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentReplica;
import io.varve.bookie.journal.JournalWriter;

/** A sealed segment was copied here whole and is durable: from here on it is a replica, in place of one that lacked something. */
final class ImportOp extends ReplicaOp {

    private Replica replaced;

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
        Replica other = replica.directory.shared.replicas.get(replica.id());
        if (other != null && other.isWhole(state.startOffset(), state.sealedEnd())) {
            status = BookieStatus.INVALID;
            return;
        }
        replaced = other;
        replica.directory.shared.replicas.put(replica.id(), replica);
        if (replaced != null && replaced.directory == replica.directory) {
            replaced.phase = Replica.Phase.GONE;
            replica.directory.fullFiles().retain(replaced);
        }
        Records.writeImport(
                to, replica.id(), state.fence().partition(), state.epoch(), state.startOffset(), replica.settled);
        replica.directory.onCreated(replica);
    }

    @Override
    protected void onDurable() {
        if (replaced != null && replaced.directory == replica.directory) {
            replica.directory.fullFiles().letGo(replaced);
        } else if (replaced != null && !replaced.directory.isOutOfService()) {
            replaced.directory.submit(new DeleteOp(replaced));
        }
        super.onDurable();
    }
}
