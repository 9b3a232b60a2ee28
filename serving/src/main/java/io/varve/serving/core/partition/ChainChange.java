package io.varve.serving.core.partition;

import io.varve.base.SegmentId;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;
import java.util.TreeSet;

/**
 * The one change of the chain, a roll or a release, that a leader has under way at a time, until its outcome is known. One whose answer was lost is looked up
 * (I-17) before it is tried again; trying again is safe, because it is a compare-and-set on the open segment.
 */
final class ChainChange<P> {

    private final Tenure<P> tenure;
    private final Step step;
    private boolean lookFirst;
    private SealFacts sealedInstead;

    ChainChange(Tenure<P> tenure) {
        this.tenure = tenure;
        this.step = tenure.newStep();
    }

    void roll(SealFacts sealed, SegmentId opened) {
        tenure.out().roll(step.begin(tenure.nextTicket()), sealed, opened);
    }

    void release(SealFacts sealed) {
        tenure.out().release(step.begin(tenure.nextTicket()), sealed);
    }

    /** Reads the chain, to learn what became of the change. */
    void look() {
        tenure.out().readChain(step.begin(tenure.nextTicket()));
    }

    /** Whether an answer is to what is under way. */
    boolean isCurrent(int ticket) {
        return step.isCurrent(ticket);
    }

    boolean isUnderWay() {
        return step.isUnderWay();
    }

    /** Whether it may be asked for: nothing under way, and no pause. */
    boolean isFree() {
        return step.isFree(tenure.nowNs());
    }

    /** It was not done: again after a pause. */
    void tryAgain() {
        step.failed(tenure.nowNs());
    }

    /** It is still unknown: looked up again after a pause. */
    void onUnread() {
        step.failed(tenure.nowNs());
        lookFirst = true;
    }

    /** Looks the outcome up, or does {@code again}, if the pause after a failed try is over. */
    void retry(Runnable again) {
        if (!step.isDue(tenure.nowNs())) {
            return;
        }
        if (lookFirst) {
            lookFirst = false;
            look();
        } else {
            again.run();
        }
    }

    void onCommitted() {
        step.done();
        lookFirst = false;
        sealedInstead = null;
    }

    void giveUp() {
        step.giveUp();
    }

    /** From now on the roll seals that segment, empty, in the place of the one that it was to seal; see {@link RollLookup#STRANDED}. */
    void sealInstead(SegmentId stranded, long sealOffset) {
        sealedInstead = new SealFacts(stranded, sealOffset, 0, -1, new TreeSet<>());
    }

    /** Null in all but that case. */
    SealFacts sealedInstead() {
        return sealedInstead;
    }
}
