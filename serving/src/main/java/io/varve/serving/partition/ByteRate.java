package io.varve.serving.partition;

/** So many bytes a second: what was taken is waited for afterwards. One thread. */
final class ByteRate {

    private static final double NS_PER_SECOND = 1e9;

    private final long bytesPerSecondMax;
    private long paidForNs;

    ByteRate(long bytesPerSecondMax, long nowNs) {
        this.bytesPerSecondMax = bytesPerSecondMax;
        this.paidForNs = nowNs;
    }

    /** Whether what was taken before has been paid for by time. */
    boolean mayGoOn(long nowNs) {
        return nowNs - paidForNs >= 0;
    }

    /** Takes bytes, whether or not it may go on. */
    void take(long nowNs, long bytes) {
        long from = nowNs - paidForNs > 0 ? nowNs : paidForNs;
        paidForNs = from + (long) (bytes * NS_PER_SECOND / bytesPerSecondMax);
    }
}
