package io.varve.serving.core.partition;

import io.varve.serving.core.partition.LeaderEffects.Deposition;

/**
 * What the phases of one leader share: who it is, what time it is, what it was asked for, and the parts that outlive a phase.
 *
 * @param <P> the payload of entries, opaque
 */
final class Tenure<P> {

    private final int epoch;
    private final SegmentRules rules;
    private final LeaderEffects<P> out;
    private final SegmentWriters<P> writers;
    private final SegmentSupply<P> supply;
    private final ChainChange<P> change;
    private LeaderOptions options;
    private Phase<P> phase;
    private int tickets;
    private long nowNs;
    private int usableBookies = Integer.MAX_VALUE;
    private boolean rollAsked;
    private boolean releaseAsked;

    Tenure(int epoch, LeaderOptions options, SegmentRules rules, LeaderEffects<P> out, long nowNs) {
        this.epoch = epoch;
        this.options = options;
        this.rules = rules;
        this.out = out;
        this.nowNs = nowNs;
        this.writers = new SegmentWriters<>(this);
        this.supply = new SegmentSupply<>(this);
        this.change = new ChainChange<>(this);
        this.phase = new Unstarted<>(this);
    }

    int epoch() {
        return epoch;
    }

    SegmentRules rules() {
        return rules;
    }

    LeaderEffects<P> out() {
        return out;
    }

    SegmentWriters<P> writers() {
        return writers;
    }

    SegmentSupply<P> supply() {
        return supply;
    }

    ChainChange<P> change() {
        return change;
    }

    LeaderOptions options() {
        return options;
    }

    void setOptions(LeaderOptions changed) {
        options = changed;
    }

    /** A ticket that nothing else of this leader has. */
    int nextTicket() {
        return ++tickets;
    }

    // ---- time
    // -------------------------------------------------------------------------------------------------------------------

    long nowNs() {
        return nowNs;
    }

    int usableBookies() {
        return usableBookies;
    }

    void onTime(long now, int usable) {
        nowNs = now;
        usableBookies = usable;
    }

    /** A step whose failed tries are repeated after the configured pause. */
    Step newStep() {
        return new Step(options.retryNs());
    }

    // ---- phases
    // -----------------------------------------------------------------------------------------------------------------

    Phase<P> phase() {
        return phase;
    }

    /** Enters a phase; its beginning, if it has one, is the caller's next call. */
    <T extends Phase<P>> T become(T successor) {
        phase = successor;
        return successor;
    }

    /** Stops for good. Nothing is acknowledged any more (I-14). */
    void depose(Deposition why) {
        if (phase instanceof Deposed) {
            return;
        }
        phase = new Deposed<>(this);
        // What is under way may still be answered, and even have succeeded; it is no business of this leader any more.
        supply.giveUp();
        change.giveUp();
        writers.forgetAll();
        out.onDeposed(why);
    }

    // ---- what was asked for
    // ---------------------------------------------------------------------------------------------------------

    boolean isRollAsked() {
        return rollAsked;
    }

    void setRollAsked(boolean asked) {
        rollAsked = asked;
    }

    boolean isReleaseAsked() {
        return releaseAsked;
    }

    void setReleaseAsked() {
        releaseAsked = true;
    }
}
