package io.varve.bookie.store;

import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.journal.JournalOp;
import io.varve.bookie.journal.JournalWriter;
import java.util.concurrent.CompletableFuture;

/** Writes nothing, and is answered when everything before it is durable. */
final class BarrierOp extends JournalOp {

    final CompletableFuture<BookieStatus> answer = new CompletableFuture<>();

    @Override
    protected int roomBytes() {
        return 0;
    }

    @Override
    protected void encode(JournalWriter to) {}

    @Override
    protected void onDurable() {
        answer.complete(BookieStatus.OK);
    }

    @Override
    protected void onLost() {
        answer.complete(BookieStatus.UNKNOWN);
    }
}
