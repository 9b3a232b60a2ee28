package io.varve.itest.cluster;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** Waiting for what other processes do, always with a deadline. */
public final class Await {

    private static final long LOOK_EVERY_MS = 20;

    private Await() {}

    /** @throws AssertionError if {@code condition} does not hold within {@code timeout} */
    public static void until(String what, Duration timeout, BooleanSupplier condition) {
        until(what, timeout, () -> "", condition);
    }

    /**
     * The same, for a wait that can fail for many reasons.
     *
     * @param seen says what there is instead, what matters first; asked once, when the time is over
     */
    public static void until(String what, Duration timeout, Supplier<String> seen, BooleanSupplier condition) {
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw notWithin(what, timeout, seen);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(LOOK_EVERY_MS));
        }
    }

    private static AssertionError notWithin(String what, Duration timeout, Supplier<String> seen) {
        String message = "Not within " + timeout + ": " + what;
        try {
            String last = seen.get();
            return new AssertionError(last.isEmpty() ? message : message + ". Seen last: " + last);
        } catch (RuntimeException | AssertionError unseen) {
            AssertionError error = new AssertionError(message + ". What there is can't be told: " + unseen);
            error.addSuppressed(unseen);
            return error;
        }
    }
}
