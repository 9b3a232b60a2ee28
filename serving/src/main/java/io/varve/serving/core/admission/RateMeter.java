package io.varve.serving.core.admission;

/**
 * Holds a client to a rate. It may take at once what a burst allows, and more on credit: then it is told how long to wait until the debt is paid.
 * Single owner: the caller serializes.
 */
public final class RateMeter {

    /** No wait, and no debt, is longer. */
    public static final long WAIT_MS_MAX = 10_000;

    private static final double NS_PER_SECOND = 1e9;

    private final double burstSeconds;
    private double allowance;
    private long atNs;
    private boolean begun;

    /** With a burst of one second's worth. */
    public RateMeter() {
        this(1);
    }

    /** @param burstSeconds how many seconds' worth may be saved up */
    public RateMeter(double burstSeconds) {
        this.burstSeconds = burstSeconds;
    }

    /**
     * Counts {@code amount}.
     *
     * @param perSecond the limit, which may have changed since
     * @return milliseconds to wait, 0 if none
     */
    public long take(double amount, double perSecond, long nowNs) {
        double full = perSecond * burstSeconds;
        allowance = begun ? Math.min(full, allowance + perSecond * Math.max(0, nowNs - atNs) / NS_PER_SECOND) : full;
        begun = true;
        atNs = nowNs;
        allowance = Math.max(allowance - amount, -perSecond * WAIT_MS_MAX / 1_000);
        return allowance >= 0 ? 0 : (long) Math.ceil(-allowance * 1_000 / perSecond);
    }

    /** Counts {@code amount} unless there is a debt. Answers how long it still takes to pay that: if not 0, nothing was counted. */
    public long takeIfPaid(double amount, double perSecond, long nowNs) {
        long waitMs = take(0, perSecond, nowNs);
        if (waitMs == 0) {
            take(amount, perSecond, nowNs);
        }
        return waitMs;
    }
}
