package io.varve.serving.net;

import io.varve.base.Invariant;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that requests of all connections may hold together. A connection that gets none stops reading and is called when some are free
 * again; so memory stays flat however many clients there are, and clients feel it as latency. Safe for any thread.
 *
 * <p>One request larger than what is left is let in when nothing else is, or it would wait for ever.
 */
final class RequestMemory {

    private final long bytesMax;
    private final AtomicLong used = new AtomicLong();
    private final ConcurrentLinkedQueue<Runnable> waiting = new ConcurrentLinkedQueue<>();

    RequestMemory(long bytesMax) {
        Invariant.check(bytesMax > 0, "requests need memory", bytesMax);
        this.bytesMax = bytesMax;
    }

    /** Takes {@code bytes}, if they are there. */
    boolean tryTake(long bytes) {
        while (true) {
            long now = used.get();
            if (!fits(now, bytes)) {
                return false;
            }
            if (used.compareAndSet(now, now + bytes)) {
                return true;
            }
        }
    }

    /** Gives {@code bytes} back. */
    void give(long bytes) {
        long left = used.addAndGet(-bytes);
        Invariant.check(left >= 0, "request memory is given back once", left);
        wakeAll();
    }

    /**
     * Calls {@code retry} once, on any thread, when memory was given back; the caller tries again and may wait again. At once if
     * {@code bytes} are free by now, so that what was given back between the failed try and this call isn't missed.
     */
    void onFree(long bytes, Runnable retry) {
        waiting.add(retry);
        if (fits(used.get(), bytes) && waiting.remove(retry)) {
            retry.run();
        }
    }

    /** Bytes in use. */
    long used() {
        return used.get();
    }

    /** Connections that wait. */
    int waiters() {
        return waiting.size();
    }

    private boolean fits(long now, long bytes) {
        return now == 0 || now + bytes <= bytesMax;
    }

    private void wakeAll() {
        if (waiting.isEmpty()) {
            return;
        }
        // Each is called at most once in this round: who fails again queues behind.
        int round = waiting.size();
        for (Runnable retry; round > 0 && (retry = waiting.poll()) != null; round--) {
            retry.run();
        }
    }
}
