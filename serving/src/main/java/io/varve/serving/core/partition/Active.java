package io.varve.serving.core.partition;

import io.varve.metadata.model.SegmentDescriptor;

/** Serving, with nothing under way but appends, and perhaps an allocation for the next roll. */
final class Active<P> extends Phase<P> {

    Active(Tenure<P> tenure) {
        super(tenure);
    }

    void begin() {
        if (tenure().isReleaseAsked()) {
            Releasing.begin(tenure());
        } else {
            considerRoll();
        }
    }

    void considerRoll() {
        SegmentSupply<P> supply = tenure().supply();
        boolean due = isRollDue();
        if (due && supply.hasPrepared()) {
            Rolling.begin(tenure(), supply.takePrepared());
            return;
        }
        boolean prepare =
                !supply.hasPrepared() && RollPolicy.isNear(tenure().writers().current(), tenure().options());
        if ((due || prepare || isImprovementDue()) && supply.isFree()) {
            supply.ask();
        }
    }

    private boolean isRollDue() {
        SegmentWriters<P> writers = tenure().writers();
        return tenure().isRollAsked()
                || RollPolicy.isDue(writers.current(), tenure().options(), writers.highWatermark(), tenure().nowNs());
    }

    private boolean isImprovementDue() {
        return tenure().supply().mayImprove()
                && RollPolicy.couldHoldMore(tenure().writers().current(), tenure().options(), tenure().usableBookies());
    }

    @Override
    void onAllocated(SegmentDescriptor segment) {
        SegmentWriter current = tenure().writers().current();
        boolean improve = isImprovementDue();
        boolean better = RollPolicy.holdsMore(segment.replicas().size(), current);
        if (improve) {
            tenure().supply().onImprovementTried(!better);
        }
        if (isRollDue() || (improve && better)) {
            Rolling.begin(tenure(), segment);
        } else if (!improve) {
            tenure().supply().prepare(segment);
        }
    }

    @Override
    void onStreamFailed(SegmentWriter writer) {
        if (writer == tenure().writers().current()) {
            considerRoll();
        }
    }

    @Override
    void onTick() {
        dropSlow();
        if (tenure().phase() != this) {
            return; // A replica that was dropped was the occasion for a roll.
        }
        SegmentWriter current = tenure().writers().current();
        boolean settled =
                tenure().nowNs() - current.openedNs() > tenure().options().avoidNs();
        if (settled && current.tracker().healthy() >= tenure().options().replicas()) {
            tenure().supply().onWhole();
        }
        considerRoll();
    }

    private void dropSlow() {
        SegmentWriters<P> writers = tenure().writers();
        SegmentWriter current = writers.current();
        for (int r = 0; r < current.replicas().size(); r++) {
            long pendingBytes = tenure().out().pendingBytes(current.number(), r);
            if (RollPolicy.isTooSlow(
                    current, r, pendingBytes, tenure().options(), writers.highWatermark(), tenure().nowNs())) {
                tenure().out().closeStream(current.number(), r, -1);
                writers.onStreamFailed(current, r);
            }
        }
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
