package io.varve.protocol.runtime;

import io.varve.base.Clock;

/** The machine's clocks. */
public final class SystemClock implements Clock {

    /** The only one. */
    public static final Clock INSTANCE = new SystemClock();

    private SystemClock() {}

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long wallTimeMs() {
        return System.currentTimeMillis();
    }
}
