package io.varve.protocol.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.Clock;
import org.junit.jupiter.api.Test;

class LogLimiterTest {

    private static final long PERIOD_MS = 10_000;

    /** It wraps on the way: only differences count. */
    private long nowNs = Long.MAX_VALUE - 5;

    private final Clock clock = new Clock() {
        @Override
        public long nanoTime() {
            return nowNs;
        }

        @Override
        public long wallTimeMs() {
            throw new AssertionError("wall time says nothing of how long something took");
        }
    };
    private final LogLimiter limiter = new LogLimiter(clock, PERIOD_MS);

    @Test
    void oneLineAPeriodGoesThroughAndTheOthersAreCounted() {
        assertThat(limiter.mayLog()).as("the first").isTrue();
        assertThat(limiter.heldBack()).isZero();
        for (int i = 0; i < 7; i++) {
            assertThat(limiter.mayLog()).isFalse();
        }
        nowNs += PERIOD_MS * 1_000_000 - 1;
        assertThat(limiter.mayLog()).as("a moment too early").isFalse();
        nowNs += 1;
        assertThat(limiter.mayLog()).isTrue();
        assertThat(limiter.heldBack()).isEqualTo(8);
        assertThat(limiter.heldBack()).as("told once").isZero();
    }
}
