package io.varve.metadata.testing;

import io.varve.base.Clock;
import io.varve.protocol.runtime.SystemClock;
import java.util.concurrent.atomic.AtomicLong;

/** The system's clock, whose wall time somebody sets while it runs. Safe for any thread. */
public final class SetClock implements Clock {

    private final AtomicLong aheadMs = new AtomicLong();

    /** Sets the wall time so much ahead of the true one; negative for behind. */
    public void set(long ahead) {
        aheadMs.set(ahead);
    }

    @Override
    public long nanoTime() {
        return SystemClock.INSTANCE.nanoTime();
    }

    @Override
    public long wallTimeMs() {
        return SystemClock.INSTANCE.wallTimeMs() + aheadMs.get();
    }
}
