package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.TreeSet;

/** The fences that a takeover raises on the replicas of the open segment: asked of each until it replies, counted in a tally (I-5). */
final class Fences<P> {

    private final Tenure<P> tenure;
    private final SegmentDescriptor open;
    private final FenceTally tally;
    private final Step[] steps;

    Fences(Tenure<P> tenure, SegmentDescriptor open) {
        this(tenure, open, new FenceTally(tenure.rules(), open.replicas().size(), open.acks(), open.startOffset()));
    }

    private Fences(Tenure<P> tenure, SegmentDescriptor open, FenceTally tally) {
        this.tenure = tenure;
        this.open = open;
        this.tally = tally;
        this.steps = new Step[open.replicas().size()];
        for (int r = 0; r < steps.length; r++) {
            steps[r] = tenure.newStep();
        }
    }

    SegmentDescriptor open() {
        return open;
    }

    FenceTally tally() {
        return tally;
    }

    int replicas() {
        return steps.length;
    }

    /** Asks every replica. */
    void askAll() {
        for (int r = 0; r < steps.length; r++) {
            ask(r);
        }
    }

    /** Asks those again whose pause is over. */
    void retry() {
        for (int r = 0; r < steps.length; r++) {
            if (steps[r].isDue(tenure.nowNs())) {
                ask(r);
            }
        }
    }

    private void ask(int replica) {
        tenure.out().fence(steps[replica].begin(tenure.nextTicket()), open, replica);
    }

    /** Whether an answer is to what is under way; if so it isn't any more. */
    boolean accept(int ticket, int replica) {
        if (!steps[replica].isCurrent(ticket)) {
            return false;
        }
        steps[replica].done();
        return true;
    }

    /** No reply that counts. */
    void onFailed(int ticket, int replica) {
        if (steps[replica].isCurrent(ticket)) {
            steps[replica].failed(tenure.nowNs());
        }
    }

    /**
     * The same fences with some replies taken back, because those replicas can't deliver what they said they hold. They are asked again, but
     * after a pause: they just failed.
     */
    Fences<P> without(boolean[] replicas) {
        for (int r = 0; r < replicas.length; r++) {
            if (replicas[r]) {
                tally.forget(r);
            }
        }
        Fences<P> again = new Fences<>(tenure, open, tally);
        for (int r = 0; r < again.steps.length; r++) {
            if (!tally.hasReply(r)) {
                again.steps[r].failed(tenure.nowNs());
            }
        }
        return again;
    }

    /** Each replica's end, -1 for those that have not replied. */
    long[] ends() {
        long[] ends = new long[steps.length];
        for (int r = 0; r < ends.length; r++) {
            ends[r] = tally.endOf(r);
        }
        return ends;
    }

    /** The bookies that said they hold everything below {@code endOffset}. */
    TreeSet<BookieId> holders(long endOffset) {
        TreeSet<BookieId> holders = new TreeSet<>();
        for (int r = 0; r < steps.length; r++) {
            if (tally.holds(r, endOffset)) {
                holders.add(open.replicas().get(r).bookie());
            }
        }
        return holders;
    }
}
