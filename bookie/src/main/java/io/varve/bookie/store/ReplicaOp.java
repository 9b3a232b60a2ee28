package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.journal.JournalOp;
import java.util.concurrent.CompletableFuture;

/** A change of one replica that is answered with a status. */
abstract class ReplicaOp extends JournalOp {

    final Replica replica;
    final CompletableFuture<BookieStatus> answer = new CompletableFuture<>();
    BookieStatus status = BookieStatus.OK;

    ReplicaOp(Replica replica) {
        this.replica = replica;
    }

    @Override
    protected void onDurable() {
        replica.directory.acks.release(replica);
        answer.complete(status);
    }

    @Override
    protected void onLost() {
        replica.directory.acks.release(replica);
        answer.complete(BookieStatus.UNKNOWN);
    }
}
