package io.varve.serving.core.partition;

import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.core.partition.LeaderEffects.SealFacts;

/**
 * A live roll: the seal is the high watermark, which stands still until the roll has committed (I-6), while appends go on into the next segment.
 */
final class Rolling<P> extends Opening<P> {

    private Rolling(Tenure<P> tenure, long sealOffset) {
        super(tenure, sealOffset);
    }

    /** Freezes the high watermark and goes on in {@code opened}. */
    static <P> void begin(Tenure<P> tenure, SegmentDescriptor opened) {
        SegmentWriters<P> writers = tenure.writers();
        // Another allocation may be under way, or its segment ready; it must not take the place of the one that this
        // roll names.
        tenure.supply().giveUp();
        tenure.setRollAsked(false);
        Rolling<P> rolling = tenure.become(new Rolling<>(tenure, writers.highWatermark()));
        writers.turn();
        writers.openNext(opened, rolling.sealOffset());
        rolling.onNextOpened();
    }

    @Override
    SealFacts seal() {
        SealFacts instead = tenure().change().sealedInstead();
        return instead != null ? instead : tenure().writers().sealCurrent(sealOffset());
    }

    @Override
    boolean isReady() {
        return true;
    }

    @Override
    void onNextOpened() {
        tenure().writers().checkpoint(tenure().writers().next());
        commitIfReady();
    }

    @Override
    void onOpened() {
        Active<P> active = tenure().become(new Active<>(tenure()));
        tenure().writers().advanceToDurable();
        active.begin();
    }

    @Override
    boolean isServing() {
        return true;
    }

    @Override
    boolean isAppending() {
        return true;
    }
}
