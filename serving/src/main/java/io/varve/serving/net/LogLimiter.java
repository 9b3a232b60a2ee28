package io.varve.serving.net;

import io.varve.base.Clock;
import java.util.concurrent.atomic.AtomicLong;

/** Lets one line a second through, and counts what it held back: clients must not be able to fill a log. Safe for any thread. */
final class LogLimiter {

    private static final long PERIOD_NS = 1_000_000_000L;

    private final Clock clock;
    private final AtomicLong nextNs;
    private final AtomicLong heldBack = new AtomicLong();

    LogLimiter(Clock clock) {
        this.clock = clock;
        this.nextNs = new AtomicLong(clock.nanoTime());
    }

    /** Whether a line may be written now. */
    boolean mayLog() {
        long now = clock.nanoTime();
        long next = nextNs.get();
        if (now - next >= 0 && nextNs.compareAndSet(next, now + PERIOD_NS)) {
            return true;
        }
        heldBack.incrementAndGet();
        return false;
    }

    /** Lines held back since this was asked last. */
    long heldBack() {
        return heldBack.getAndSet(0);
    }
}
