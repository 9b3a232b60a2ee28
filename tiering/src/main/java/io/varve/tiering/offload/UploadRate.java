package io.varve.tiering.offload;

import io.varve.base.Clock;
import io.varve.tiering.core.TokenBucket;
import java.io.InterruptedIOException;
import java.util.concurrent.TimeUnit;

/** Holds uploads back to a rate that all of them share. Safe for any thread; waits in the caller's. */
final class UploadRate {

    private final Clock clock;
    private final TokenBucket bucket;

    UploadRate(Clock clock, long bytesPerSecond, long burstBytes) {
        this.clock = clock;
        this.bucket = new TokenBucket(bytesPerSecond, burstBytes, clock.nanoTime());
    }

    void take(long bytes) throws InterruptedIOException {
        long waitNs;
        synchronized (bucket) {
            waitNs = bucket.take(bytes, clock.nanoTime());
        }
        if (waitNs > 0) {
            try {
                TimeUnit.NANOSECONDS.sleep(waitNs);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new InterruptedIOException("the offloader is closing");
            }
        }
    }
}
