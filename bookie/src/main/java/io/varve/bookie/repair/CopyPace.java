package io.varve.bookie.repair;

/**
 * Keeps all copies of a bookie together to so many bytes a second. The time that reading and writing take counts: who copied slower than that needs not wait as well. Safe for any thread.
 */
public final class CopyPace {

    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    /** How far a copy that was held up may catch up: not so far that it gets in the way of appends for long. */
    private static final long CREDIT_NANOS = NANOS_PER_SECOND / 10;

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
        long costNanos = (long) ((double) bytes * NANOS_PER_SECOND / bytesPerSecond);
        long earliest = nowNanos - Math.max(CREDIT_NANOS, costNanos);
        long from = used && freeAtNanos - earliest > 0 ? freeAtNanos : earliest;
        used = true;
        freeAtNanos = from + costNanos;
        return Math.max(0, freeAtNanos - nowNanos);
    }
}
