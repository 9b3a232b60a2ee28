package io.varve.serving.core.partition;

/** The first phase of a takeover: raises the fence on the replicas of the open segment, until R - A + 1 truthful replies are in (I-5). */
final class Fencing<P> extends Phase<P> {

    private final Fences<P> fences;

    Fencing(Tenure<P> tenure, Fences<P> fences) {
        super(tenure);
        this.fences = fences;
    }

    @Override
    Fences<P> fences() {
        return fences;
    }

    @Override
    void onFenceReply() {
        FenceTally tally = fences.tally();
        if (tally.isEnough()) {
            long sealOffset = tally.sealOffset();
            tenure().become(new Carrying<>(tenure(), fences, sealOffset, tally.carryEnd(sealOffset)))
                    .begin();
        }
    }

    @Override
    void onTick() {
        fences.retry();
    }
}
