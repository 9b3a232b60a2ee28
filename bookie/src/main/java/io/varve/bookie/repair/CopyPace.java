package io.varve.bookie.repair;

/** Keeps all copies of a bookie together to so many bytes a second. Safe for any thread. */
public final class CopyPace {

    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private final long bytesPerSecond;
    private long freeAtNanos;
    private boolean used;

    /** @param bytesPerSecond positive; 0 for no limit */
    public CopyPace(long bytesPerSecond) {
        this.bytesPerSecond = bytesPerSecond;
    }

    /** So many bytes were copied: how long to wait before the next are. */
    synchronized long afterNanos(int bytes, long nowNanos) {
        if (bytesPerSecond == 0) {
            return 0;
        }
        long from = used && freeAtNanos - nowNanos > 0 ? freeAtNanos : nowNanos;
        used = true;
        freeAtNanos = from + (long) ((double) bytes * NANOS_PER_SECOND / bytesPerSecond);
        return freeAtNanos - nowNanos;
    }
}
