package io.varve.serving.core.partition;

import io.varve.metadata.model.PartitionState;
import io.varve.serving.core.partition.LeaderEffects.Deposition;

/**
 * Giving the partition back: waits for what is under way to be acknowledged, and for the replicas to be level, but no longer than the options say; then seals at the
 * high watermark and hands the chain over without an open segment, so that the successor has nothing to fence.
 */
final class Releasing<P> extends Phase<P> {

    private final long sealByNs;
    private boolean asked;
    private long sealOffset;

    private Releasing(Tenure<P> tenure, long sealByNs) {
        super(tenure);
        this.sealByNs = sealByNs;
    }

    static <P> void begin(Tenure<P> tenure) {
        Releasing<P> releasing = tenure.become(
                new Releasing<>(tenure, tenure.nowNs() + tenure.options().releaseNs()));
        tenure.writers().checkpoint(tenure.writers().current());
        releasing.releaseIfSettled();
    }

    private void releaseIfSettled() {
        SegmentWriters<P> writers = tenure().writers();
        boolean late = tenure().nowNs() >= sealByNs;
        if (!asked && (writers.isSettled() || late) && tenure().change().isFree()) {
            asked = true;
            sealOffset = writers.highWatermark();
            writers.freeze();
            release();
        }
    }

    private void release() {
        tenure().change().release(tenure().writers().sealCurrent(sealOffset));
    }

    @Override
    void onHighWatermark() {
        releaseIfSettled();
    }

    @Override
    void onChangeCommitted() {
        tenure().depose(Deposition.RELEASED);
    }

    @Override
    void onChainRead(PartitionState state) {
        if (state.chain().open().isEmpty()) {
            tenure().depose(Deposition.RELEASED);
        } else {
            tenure().change().tryAgain();
        }
    }

    @Override
    Deposition whyNotOwned() {
        return Deposition.RELEASED;
    }

    @Override
    void onTick() {
        if (asked) {
            // The same seal again: the release is a compare-and-set, and what was sealed stays sealed there.
            tenure().change().retry(this::release);
        } else {
            releaseIfSettled();
        }
    }

    @Override
    boolean isServing() {
        return true;
    }
}
