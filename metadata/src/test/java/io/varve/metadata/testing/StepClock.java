package io.varve.metadata.testing;

import io.varve.base.Clock;

/** A clock that a test moves. */
public final class StepClock implements Clock {

    private long nowMs;

    /** Begins at that wall time. */
    public StepClock(long nowMs) {
        this.nowMs = nowMs;
    }

    /** Lets time pass. */
    public void advance(long ms) {
        nowMs += ms;
    }

    @Override
    public long nanoTime() {
        return nowMs * 1_000_000;
    }

    @Override
    public long wallTimeMs() {
        return nowMs;
    }
}
