package io.varve.protocol.runtime;

import io.varve.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Lets one line through in so much time, and counts what it held back: neither clients nor a store that is away must be able to fill a log. Safe for any thread. */
public final class LogLimiter {

    private final Clock clock;
    private final long periodNs;
    private final AtomicLong nextNs;
    private final AtomicLong heldBack = new AtomicLong();

    /** @param periodMs between two lines; the first one goes through at once */
    public LogLimiter(Clock clock, long periodMs) {
        this.clock = clock;
        this.periodNs = TimeUnit.MILLISECONDS.toNanos(periodMs);
        this.nextNs = new AtomicLong(clock.nanoTime());
    }

    /** Whether a line may be written now. */
    public boolean mayLog() {
        long now = clock.nanoTime();
        long next = nextNs.get();
        if (now - next >= 0 && nextNs.compareAndSet(next, now + periodNs)) {
            return true;
        }
        heldBack.incrementAndGet();
        return false;
    }

    /** Lines held back since this was asked last. */
    public long heldBack() {
        return heldBack.getAndSet(0);
    }
}
