package io.varve.bookie.journal;

/**
 * Something handed in to be made durable. All but the constructor is called on the journal's thread, in the order in which the ops were handed in: {@link #encode},
 * and later, in the same order, exactly one of {@link #onDurable} and {@link #onLost}. An op that was never encoded because the journal failed gets
 * {@link #onLost} alone.
 */
public abstract class JournalOp {

    JournalOp next;

    /**
     * The most room that the op's records take, aligned; 0 if it writes none. Asked once, right before {@link #encode}, so it may depend on what
     * came before.
     */
    protected abstract int roomBytes();

    /** Decides, and writes what is to be written. */
    protected abstract void encode(JournalWriter to);

    /** What was written, and everything before it, has survived an fsync. */
    protected abstract void onDurable();

    /** The journal has failed: whether what was written will be found again is unknown. */
    protected abstract void onLost();

    /** What counts against the bound on what is waiting. */
    protected int pendingBytes() {
        return 0;
    }
}
