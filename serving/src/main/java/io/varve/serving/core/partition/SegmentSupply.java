package io.varve.serving.core.partition;

import io.varve.base.BookieId;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/** Where the next segment comes from: asks for it, keeps one ready ahead of a roll, and remembers which bookies not to ask for. */
final class SegmentSupply<P> {

    /** Tries for more copies are so many times rarer than tries of what is needed. */
    private static final int IMPROVEMENT_PAUSES = 16;

    private static final long NEVER = Long.MAX_VALUE;

    private final Tenure<P> tenure;
    private final Step allocation;
    private final Step improvement;
    private final TreeMap<BookieId, Long> avoidUntilNs = new TreeMap<>();
    private SegmentDescriptor prepared;

    /** When a bookie may be asked for again that the last try for more copies had to do without. */
    private long placeNs = NEVER;

    SegmentSupply(Tenure<P> tenure) {
        this.tenure = tenure;
        this.allocation = tenure.newStep();
        this.improvement = new Step(tenure.options().retryNs() * IMPROVEMENT_PAUSES);
    }

    // ---- allocating
    // -------------------------------------------------------------------------------------------------------------

    void ask() {
        avoidUntilNs.values().removeIf(untilNs -> untilNs <= tenure.nowNs());
        tenure.out()
                .allocate(
                        allocation.begin(tenure.nextTicket()),
                        tenure.writers().endOffset(),
                        new TreeSet<>(avoidUntilNs.keySet()));
    }

    /** Whether an answer is to what is under way; if so it isn't any more. */
    boolean accept(int ticket) {
        if (!allocation.isCurrent(ticket)) {
            return false;
        }
        allocation.done();
        return true;
    }

    /** Whether an answer is to what is under way. */
    boolean isCurrent(int ticket) {
        return allocation.isCurrent(ticket);
    }

    /** None was to be had: again after a pause. */
    void onFailed() {
        allocation.failed(tenure.nowNs());
    }

    /** Whether none was to be had the last time. */
    boolean isFailing() {
        return allocation.isFailing();
    }

    boolean isFree() {
        return allocation.isFree(tenure.nowNs());
    }

    boolean isDue() {
        return allocation.isDue(tenure.nowNs());
    }

    /** An allocation under way, and a segment that is ready, are of no use any more. */
    void giveUp() {
        allocation.giveUp();
        prepared = null;
    }

    // ---- avoiding
    // ---------------------------------------------------------------------------------------------------------------

    /** That bookie failed: for a while it is not asked for, nor is a prepared segment used that has it. */
    void avoid(BookieId bookie) {
        avoidUntilNs.put(bookie, tenure.nowNs() + tenure.options().avoidNs());
        dropPreparedOn(new TreeSet<>(List.of(bookie)));
    }

    // ---- one ahead
    // --------------------------------------------------------------------------------------------------------------

    void prepare(SegmentDescriptor segment) {
        prepared = segment;
    }

    boolean hasPrepared() {
        return prepared != null;
    }

    /** Whether the segment that was ready had a replica on one of these bookies; if so there is none any more. */
    boolean dropPreparedOn(SortedSet<BookieId> bookies) {
        boolean isThere = prepared != null
                && prepared.replicas().stream().anyMatch(replica -> bookies.contains(replica.bookie()));
        if (isThere) {
            prepared = null;
        }
        return isThere;
    }

    SegmentDescriptor takePrepared() {
        SegmentDescriptor taken = prepared;
        prepared = null;
        return taken;
    }

    // ---- more copies
    // ------------------------------------------------------------------------------------------------------------

    /** Whether the pause after the last try for more copies is over, or it was in vain and there may be a place now. */
    boolean mayImprove() {
        return improvement.isFree(tenure.nowNs()) || tenure.nowNs() >= placeNs;
    }

    /**
     * More copies were tried for: the next try waits longer, so that a flapping bookie costs few rolls.
     *
     * @param inVain no more were to be had
     */
    void onImprovementTried(boolean inVain) {
        improvement.failed(tenure.nowNs());
        placeNs = inVain ? endOfNextAvoidance() : NEVER;
    }

    private long endOfNextAvoidance() {
        long next = NEVER;
        for (long untilNs : avoidUntilNs.values()) {
            next = untilNs > tenure.nowNs() ? Math.min(next, untilNs) : next;
        }
        return next;
    }

    /** There are as many copies as there should be, and have been for a while. */
    void onWhole() {
        improvement.done();
        placeNs = NEVER;
    }
}
