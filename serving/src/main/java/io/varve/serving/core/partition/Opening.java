package io.varve.serving.core.partition;

import io.varve.base.Invariant;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LeaderEffects.Deposition;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;

/**
 * A phase that ends with a roll: a segment is sealed where it was decided, and the next one opened. Until the roll is in the Raft log nothing of the
 * next segment is acknowledged (I-6).
 */
abstract sealed class Opening<P> extends Phase<P> permits Carrying, Rolling {

    private final long sealOffset;

    Opening(Tenure<P> tenure, long sealOffset) {
        super(tenure);
        this.sealOffset = sealOffset;
    }

    /** Where the open segment ends and the next one begins. */
    final long sealOffset() {
        return sealOffset;
    }

    /** How the chain's open segment ends; null if it has none. */
    abstract SealFacts seal();

    /** Whether all that must come before the roll is done. */
    abstract boolean isReady();

    /** The segment to be opened has its streams and what is to be carried. */
    abstract void onNextOpened();

    /** The roll has committed; the writers turned already. */
    abstract void onOpened();

    /** Sends the roll, if it may go and isn't on its way. */
    final void commitIfReady() {
        SegmentWriter next = tenure().writers().next();
        if (next != null && tenure().change().isFree() && isReady()) {
            tenure().change().roll(seal(), next.segment());
        }
    }

    @Override
    final void onAllocated(SegmentDescriptor segment) {
        Invariant.check(tenure().writers().next() == null, "I-6 a roll under way keeps the segment that it names");
        tenure().writers().openNext(segment, sealOffset);
        onNextOpened();
    }

    @Override
    final void onNextDurable() {
        commitIfReady();
    }

    @Override
    void onSegmentGone() {
        tenure().change().tryAgain();
        tenure().writers().discardNext();
        tenure().supply().ask();
    }

    @Override
    final void onChangeCommitted() {
        tenure().change().onCommitted();
        tenure().writers().onOpened(sealOffset);
        onOpened();
    }

    @Override
    final void onChainRead(PartitionState state) {
        SegmentWriter next = tenure().writers().next();
        SegmentDescriptor open = state.chain().open().orElse(null);
        RollLookup found =
                RollLookup.of(open, seal(), next == null ? null : next.segment(), tenure().epoch(), sealOffset);
        switch (found) {
            case COMMITTED -> onChangeCommitted();
            case NOT_COMMITTED -> tenure().change().tryAgain();
            case STRANDED -> {
                tenure().change().sealInstead(open.id(), sealOffset);
                tenure().change().tryAgain();
            }
            case OVERTAKEN -> tenure().depose(Deposition.SUPERSEDED);
        }
    }

    @Override
    void onTick() {
        SegmentSupply<P> supply = tenure().supply();
        if (tenure().writers().next() == null && supply.isDue()) {
            supply.ask();
        }
        tenure().change().retry(this::commitIfReady);
    }
}
