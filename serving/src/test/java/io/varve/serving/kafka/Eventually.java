package io.varve.serving.kafka;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** Waits for what happens on other threads, with a deadline. */
public final class Eventually {

    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(2);

    private Eventually() {}

    /** The result of {@code future}. */
    public static <T> T get(CompletableFuture<T> future) {
        try {
            return future.get(DEADLINE_NS, TimeUnit.NANOSECONDS);
        } catch (Exception e) {
            throw new AssertionError("no result: " + e, e);
        }
    }

    /** Asks until the answer is the wanted one. */
    public static <T> T until(Supplier<T> answer, Predicate<T> wanted) {
        long deadlineNs = System.nanoTime() + DEADLINE_NS;
        T last = answer.get();
        while (!wanted.test(last)) {
            if (System.nanoTime() - deadlineNs > 0) {
                throw new AssertionError("still " + last);
            }
            LockSupport.parkNanos(PAUSE_NS);
            last = answer.get();
        }
        return last;
    }
}
