package io.varve.protocol.rpc;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that all connections of a server may have in work together. A connection that finds it used up stops reading and is woken when
 * enough was given back. Safe for any thread.
 */
final class InFlightBudget {

    private final long bytesMax;
    private final long bytesLow;
    private final AtomicLong bytes = new AtomicLong();
    private final Queue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    InFlightBudget(long bytesMax) {
        this.bytesMax = bytesMax;
        this.bytesLow = bytesMax - bytesMax / 4;
    }

    /** Takes {@code taken}, whatever is left. */
    void take(int taken) {
        bytes.addAndGet(taken);
    }

    /** Whether more is taken than there should be. */
    boolean isUsedUp() {
        return bytes.get() > bytesMax;
    }

    /** Bytes taken now. */
    long bytes() {
        return bytes.get();
    }

    /** Runs {@code wake} once, soon after the budget is no longer used up: at once if it is not. */
    void whenFree(Runnable wake) {
        waiting.add(wake);
        if (bytes.get() <= bytesLow) {
            wakeAll();
        }
    }

    /** Gives back what was taken. */
    void giveBack(int given) {
        if (bytes.addAndGet(-given) <= bytesLow && !waiting.isEmpty()) {
            wakeAll();
        }
    }

    private void wakeAll() {
        for (Runnable wake = waiting.poll(); wake != null; wake = waiting.poll()) {
            wake.run();
        }
    }
}
