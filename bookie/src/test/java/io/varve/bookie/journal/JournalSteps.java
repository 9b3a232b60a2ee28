package io.varve.bookie.journal;

/** Steps a journal by hand: what {@link JournalLoop} does on two threads, in any order a test likes. */
public final class JournalSteps {

    private final Journal journal;

    public JournalSteps(Journal journal) {
        this.journal = journal;
    }

    /** As {@link JournalLoop#submit}. */
    public void submit(JournalOp op) {
        journal.submit(op);
    }

    /** Hands in the mark of a quiet journal. */
    public void mark() {
        journal.submit(new MarkOp(() -> {}));
    }

    /** Completes what is done and encodes a round; answers whether there was anything to do. */
    public boolean work() {
        if (!journal.hasWork()) {
            return false;
        }
        journal.work();
        return true;
    }

    /**
     * Writes and fsyncs a group; answers whether there was one.
     *
     * @param tookNs what that is said to have taken
     */
    public boolean flush(long tookNs) {
        Group group = journal.takeForFlush();
        if (group == null) {
            return false;
        }
        group.flushNs = tookNs;
        journal.flush(group, 0);
        return true;
    }
}
