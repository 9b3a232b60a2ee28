package io.varve.serving.core.fetch;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;

/**
 * Readers of one partition that wait until a bound (the high watermark, the last stable offset or the end) rises above an offset. Used by one
 * thread. One instance for each bound.
 */
public final class WaitingFetches {

    private final TreeSet<Waiter> waiters =
            new TreeSet<>(Comparator.comparingLong(Waiter::offset).thenComparingLong(Waiter::number));
    private long numbers;

    /**
     * One who waits.
     *
     * @param offset readable once the bound is above it
     * @param number tells waiters for one offset apart
     * @param callback called once
     */
    public record Waiter(long offset, long number, Runnable callback) {}

    /** Registers a wait. */
    public Waiter add(long offset, Runnable callback) {
        Waiter waiter = new Waiter(offset, numbers++, callback);
        waiters.add(waiter);
        return waiter;
    }

    /** Ends a wait without a call. */
    public void cancel(Waiter waiter) {
        waiters.remove(waiter);
    }

    /** Calls those back whose offset lies below the bound now. */
    public void onBound(long boundOffset) {
        if (waiters.isEmpty() || waiters.first().offset() >= boundOffset) {
            return;
        }
        List<Waiter> ready = new ArrayList<>();
        while (!waiters.isEmpty() && waiters.first().offset() < boundOffset) {
            ready.add(waiters.pollFirst());
        }
        ready.forEach(w -> w.callback().run());
    }

    /** Calls everybody back: the log is lost here. */
    public void onLost() {
        List<Waiter> all = List.copyOf(waiters);
        waiters.clear();
        all.forEach(w -> w.callback().run());
    }

    /** How many wait. */
    public int size() {
        return waiters.size();
    }
}
