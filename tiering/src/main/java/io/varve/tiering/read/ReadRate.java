package io.varve.tiering.read;

import io.micrometer.core.instrument.Counter;
import io.varve.base.Clock;
import io.varve.tiering.core.TokenBucket;

/**
 * Holds what is read from the store to a rate that all readers share, as KIP-956 has it for a Kafka broker: what was asked for is paid for by time before more is asked for. Nobody is refused: who waits for a
 * block waits longer, and fetches answer without it when their time is over. Safe for any thread.
 */
final class ReadRate {

    private final Clock clock;
    private final Later later;
    private final Counter heldBackSeconds;
    private final TokenBucket bucket;
    private boolean isWaiting;

    /** Runs a task once, some nanoseconds from now, on a thread that may put requests together, and never before the call returns. */
    @FunctionalInterface
    interface Later {
        void after(long delayNs, Runnable task);
    }

    /**
     * @param bytesPerSecond {@code 0} for no limit
     * @param burstBytes what may be asked for at once after a rest
     * @param heldBackSeconds counts the time that was waited for
     */
    ReadRate(long bytesPerSecond, long burstBytes, Clock clock, Later later, Counter heldBackSeconds) {
        this.clock = clock;
        this.later = later;
        this.heldBackSeconds = heldBackSeconds;
        this.bucket = new TokenBucket(bytesPerSecond, burstBytes, clock.nanoTime());
    }

    /**
     * Whether more may be asked for.
     *
     * @param again runs when it may, if it may not; whoever asks meanwhile is served by the same run
     */
    synchronized boolean mayGoOn(Runnable again) {
        long debtNs = bucket.debtNs(clock.nanoTime());
        if (debtNs > 0 && !isWaiting) {
            isWaiting = true;
            heldBackSeconds.increment(debtNs / 1e9);
            later.after(debtNs, () -> {
                onPaid();
                again.run();
            });
        }
        return debtNs == 0;
    }

    /** Counts what is asked for, whether or not it may. */
    synchronized void take(long bytes) {
        bucket.take(bytes, clock.nanoTime());
    }

    private synchronized void onPaid() {
        isWaiting = false;
    }
}
