package io.varve.bookie.journal;

import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;

/**
 * Proves that everything before it was durable. Without it, damage to the very last group could not be told from a torn tail: it is written when the journal has
 * been quiet for a moment, and when it is closed.
 */
final class MarkOp extends JournalOp {

    private final Runnable whenDone;

    MarkOp(Runnable whenDone) {
        this.whenDone = whenDone;
    }

    @Override
    protected int roomBytes() {
        return JournalFormat.recordBytes(RecordType.MARK, 0);
    }

    @Override
    protected void encode(JournalWriter to) {
        to.begin(RecordType.MARK, 0);
        to.end();
    }

    @Override
    protected void onDurable() {
        whenDone.run();
    }

    @Override
    protected void onLost() {
        whenDone.run();
    }
}
