package io.varve.bookie.core;

/**
 * How fast to settle. While the backlog is about what it may be, at the rate that was asked for, so that appends hardly notice; and the faster the further it is beyond, so
 * that it stays bounded where appends come faster than that for long.
 */
public final class SettlePace {

    /** As fast as the disk can. */
    public static final long UNLIMITED = Long.MAX_VALUE;

    private SettlePace() {}

    /**
     * The rate for a backlog.
     *
     * @param bytesPerSecond that was asked for, positive
     * @param backlogBytesMax from twice as much on the rate is {@link #UNLIMITED}; 0 if all is settled as it comes, at the rate asked for
     */
    public static long bytesPerSecond(long bytesPerSecond, long backlogBytes, long backlogBytesMax) {
        if (backlogBytesMax <= 0 || backlogBytes <= backlogBytesMax) {
            return bytesPerSecond;
        }
        double left = 2.0 - (double) backlogBytes / backlogBytesMax;
        return left <= 0 ? UNLIMITED : (long) Math.min(UNLIMITED, bytesPerSecond / left);
    }
}
