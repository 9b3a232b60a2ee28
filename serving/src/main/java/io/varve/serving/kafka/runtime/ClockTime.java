package io.varve.serving.kafka.runtime;

import io.varve.base.Clock;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.common.utils.Time;

/** Our clock in the form in which Kafka's coordinators read it. */
public final class ClockTime implements Time {

    private final Clock clock;

    public ClockTime(Clock clock) {
        this.clock = clock;
    }

    @Override
    public long milliseconds() {
        return clock.wallTimeMs();
    }

    @Override
    public long nanoseconds() {
        return clock.nanoTime();
    }

    @Override
    public void sleep(long ms) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(ms));
    }
}
