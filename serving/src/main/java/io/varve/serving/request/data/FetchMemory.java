package io.varve.serving.request.data;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The bytes that Fetch answers hold from the read until they have gone to the socket, all clients together. When they run short, answers
 * get smaller, down to a floor: clients then come more often, and memory stays near the bound however many there are (P20 of the user
 * reports). Safe for any thread.
 */
public final class FetchMemory {

    /** Below this an answer isn't worth its round trip. */
    static final int FLOOR_BYTES = 256 * 1024;

    private final long bytesMax;
    private final AtomicLong used = new AtomicLong();

    /** @param bytesMax the bound */
    public FetchMemory(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** Takes up to {@code wanted} bytes; what is granted must be given back. */
    public int take(int wanted) {
        while (true) {
            long now = used.get();
            int granted = (int) Math.min(wanted, Math.max(bytesMax - now, FLOOR_BYTES));
            if (used.compareAndSet(now, now + granted)) {
                return granted;
            }
        }
    }

    /** Gives back. */
    public void give(long bytes) {
        used.addAndGet(-bytes);
    }

    /** Bytes in use. */
    public long used() {
        return used.get();
    }
}
