package io.varve.itest.cluster;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting for what other processes do, always with a deadline. */
public final class Await {

    private Await() {}

    /** @throws AssertionError if {@code condition} does not hold within {@code timeout} */
    public static void until(String what, Duration timeout, BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError("Not within " + timeout + ": " + what);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
        }
    }
}
