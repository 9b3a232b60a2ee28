package io.varve.tiering.core;

/** Keeps a flow of bytes below a rate. Not safe for several threads. */
public final class TokenBucket {

    private static final double NS_PER_SECOND = 1e9;

    private final long bytesPerSecond;
    private final long burstBytes;
    private double tokens;
    private long countedNs;

    /**
     * @param bytesPerSecond {@code 0} for no limit
     * @param burstBytes what may go at once after a rest
     */
    public TokenBucket(long bytesPerSecond, long burstBytes, long nowNs) {
        this.bytesPerSecond = bytesPerSecond;
        this.burstBytes = burstBytes;
        this.tokens = burstBytes;
        this.countedNs = nowNs;
    }

    /**
     * Takes bytes out of the bucket, also more than there are: the debt is waited for.
     *
     * @return how long the taker has to wait, in nanoseconds
     */
    public long take(long bytes, long nowNs) {
        if (bytesPerSecond == 0) {
            return 0;
        }
        count(nowNs);
        tokens -= bytes;
        return debtNs();
    }

    /** How long it takes until what was taken before is paid for, in nanoseconds: 0 if it is. */
    public long debtNs(long nowNs) {
        if (bytesPerSecond == 0) {
            return 0;
        }
        count(nowNs);
        return debtNs();
    }

    private void count(long nowNs) {
        tokens = Math.min(burstBytes, tokens + (nowNs - countedNs) / NS_PER_SECOND * bytesPerSecond);
        countedNs = nowNs;
    }

    private long debtNs() {
        return tokens >= 0 ? 0 : (long) Math.ceil(-tokens / bytesPerSecond * NS_PER_SECOND);
    }
}
