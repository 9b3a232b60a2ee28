package io.varve.serving.net;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waiting for another thread, with a deadline. */
final class Await {

    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);

    private Await() {}

    /** Returns once {@code condition} holds; fails if it doesn't within the deadline. */
    static void until(BooleanSupplier condition) {
        long startNs = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (System.nanoTime() - startNs > DEADLINE_NS) {
                throw new AssertionError("the condition did not come true in time");
            }
            LockSupport.parkNanos(1_000_000);
        }
    }
}
