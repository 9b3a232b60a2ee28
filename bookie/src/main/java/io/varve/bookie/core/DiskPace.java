package io.varve.bookie.core;

/**
 * Whether a disk has become slow: by a moving average of what its fsyncs take, with a gap between the marks so that it doesn't flap. A slow disk still does
 * everything that it is asked; its owners may roll elsewhere.
 */
public final class DiskPace {

    private static final long SLOW_NS = 200_000_000;
    private static final long WELL_NS = 50_000_000;

    /** An fsync's share in the average. */
    private static final double SHARE = 0.1;

    /** Longer than any group takes on a disk that works. */
    private static final long STUCK_NS = 1_000_000_000;

    private double averageNs;
    private boolean slow;

    /**
     * An fsync took so long.
     *
     * @return whether {@link #isSlow} has changed
     */
    public boolean onFlush(long flushNs) {
        averageNs += SHARE * (flushNs - averageNs);
        boolean now = slow ? averageNs > WELL_NS : averageNs > SLOW_NS;
        boolean changed = now != slow;
        slow = now;
        return changed;
    }

    /** Whether a write that has been under way for so long says enough, without waiting for its end. */
    public static boolean isStuck(long underWayNs) {
        return underWayNs > STUCK_NS;
    }

    /** Whether it is slow at the moment. */
    public boolean isSlow() {
        return slow;
    }
}
