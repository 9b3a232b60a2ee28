package io.varve.serving.core.partition;

import io.varve.base.Invariant;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;

/**
 * The second phase of a takeover: loads the owner's state as of the seal, gets a new segment (mostly one came with the ownership), and writes into it what lies between the seal and the
 * largest end that was replied. Once A replicas of the new segment hold that, the roll may go.
 */
final class Carrying<P> extends Opening<P> {

    private static final long UNKNOWN = -1;

    /** Null if the chain has no open segment. */
    private final Fences<P> fences;

    private final long carryEnd;
    private final boolean[] unreadable;
    private final Step loading;
    private final Step reading;
    private boolean stateLoaded;
    private long sealedBytes = UNKNOWN;
    private long sealedMaxTimestampMs = UNKNOWN;
    /** Everything to be carried was sent to the next segment, and a checkpoint after it. */
    private boolean complete;

    Carrying(Tenure<P> tenure, Fences<P> fences, long sealOffset, long carryEnd) {
        super(tenure, sealOffset);
        this.fences = fences;
        this.carryEnd = carryEnd;
        this.unreadable = new boolean[fences == null ? 0 : fences.replicas()];
        this.loading = tenure.newStep();
        this.reading = tenure.newStep();
    }

    void begin() {
        tenure().writers().startAt(sealOffset());
        loadState();
        SegmentSupply<P> supply = tenure().supply();
        if (supply.hasPrepared()) {
            onAllocated(supply.takePrepared());
        } else {
            supply.ask();
        }
    }

    // ---- the state
    // --------------------------------------------------------------------------------------------------------------

    private void loadState() {
        long[] holders = fences == null ? new long[0] : fences.ends();
        tenure().out().loadState(loading.begin(tenure().nextTicket()), sealOffset(), holders);
    }

    boolean isLoading(int ticket) {
        return loading.isCurrent(ticket);
    }

    void onStateLoaded(int ticket, long bytes, long maxTimestampMs) {
        if (isLoading(ticket)) {
            loading.done();
            stateLoaded = true;
            sealedBytes = bytes;
            sealedMaxTimestampMs = maxTimestampMs;
            readCarry();
        }
    }

    void onStateFailed(int ticket) {
        if (isLoading(ticket)) {
            loading.failed(tenure().nowNs());
        }
    }

    // ---- the entries
    // ------------------------------------------------------------------------------------------------------------

    private void readCarry() {
        SegmentWriters<P> writers = tenure().writers();
        if (!stateLoaded || writers.next() == null || reading.isUnderWay()) {
            return;
        }
        long from = writers.endOffset();
        if (from == carryEnd) {
            onComplete();
            return;
        }
        for (int r = 0; r < unreadable.length; r++) {
            if (!unreadable[r] && fences.tally().holds(r, from + 1)) {
                tenure().out().readCarry(reading.begin(tenure().nextTicket()), fences.open(), r, from, carryEnd);
                return;
            }
        }
        startOver();
    }

    boolean isReading(int ticket) {
        return reading.isCurrent(ticket);
    }

    void onCarried(
            int ticket, long firstOffset, long lastOffset, int crc, int sizeBytes, long maxTimestampMs, P payload) {
        Invariant.check(isReading(ticket), "carried entries are wanted");
        Invariant.check(lastOffset < carryEnd, "I-3 entries end where replicas do", lastOffset, carryEnd);
        tenure().writers().enter(firstOffset, lastOffset, crc, sizeBytes, maxTimestampMs, payload);
        if (tenure().writers().endOffset() == carryEnd) {
            reading.done();
            onComplete();
        }
    }

    void onCarryFailed(int ticket, int replica) {
        if (isReading(ticket)) {
            reading.failed(tenure().nowNs());
            unreadable[replica] = true;
            readCarry();
        }
    }

    private void onComplete() {
        SegmentWriters<P> writers = tenure().writers();
        if (writers.next() == null) {
            return; // Its bookies failed meanwhile: another one is on its way.
        }
        if (!complete) {
            complete = true;
            writers.checkpoint(writers.next());
        }
        commitIfReady();
    }

    /**
     * Nobody who replied can deliver what is to be carried. Their replies are taken back and the choice is made anew, from replies that
     * are still enough: nothing was acknowledged and nothing committed, so it may come out otherwise.
     */
    private void startOver() {
        tenure().writers().discardNext();
        tenure().writers().forgetEntries();
        tenure().supply().giveUp();
        tenure().change().giveUp();
        tenure().become(new Fencing<>(tenure(), fences.without(unreadable))).onFenceReply();
    }

    // ---- the fences
    // -------------------------------------------------------------------------------------------------------------

    @Override
    Fences<P> fences() {
        return fences;
    }

    @Override
    void onFenceReply() {
        // One more who may deliver.
        if (reading.isFailing()) {
            readCarry();
        }
    }

    // ---- the roll
    // ---------------------------------------------------------------------------------------------------------------

    @Override
    SealFacts seal() {
        SealFacts instead = tenure().change().sealedInstead();
        return instead != null || fences == null
                ? instead
                : new SealFacts(
                        fences.open().id(),
                        sealOffset(),
                        sealedBytes,
                        sealedMaxTimestampMs,
                        fences.holders(sealOffset()));
    }

    @Override
    boolean isReady() {
        return complete && tenure().writers().next().tracker().durableOnQuorum() >= carryEnd;
    }

    @Override
    void onNextOpened() {
        readCarry();
    }

    @Override
    void onStreamFailed(SegmentWriter writer) {
        // Nothing of it was acknowledged, and unless the roll is on its way nobody knows of it: another one takes its
        // place.
        boolean useless =
                writer == tenure().writers().next() && !writer.tracker().hasQuorum();
        if (useless && !tenure().change().isUnderWay()) {
            complete = false;
            tenure().writers().discardNext();
            tenure().supply().ask();
        }
    }

    @Override
    void onSegmentGone() {
        complete = false;
        super.onSegmentGone();
    }

    @Override
    void onOpened() {
        SegmentWriters<P> writers = tenure().writers();
        Active<P> active = tenure().become(new Active<>(tenure()));
        writers.advanceToDurable();
        tenure().out().onServing(writers.highWatermark());
        active.begin();
    }

    @Override
    void onTick() {
        if (fences != null) {
            fences.retry();
        }
        if (loading.isDue(tenure().nowNs())) {
            loadState();
        }
        if (reading.isDue(tenure().nowNs())) {
            readCarry();
        }
        if (tenure().phase() == this) {
            super.onTick();
        }
    }
}
