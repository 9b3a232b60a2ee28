package io.varve.tiering.core;

import io.varve.base.Randomness;

/**
 * How long calls to a bucket wait when the store asks for fewer of them: one state for all callers, since it is the bucket that is
 * throttled. Exponential, jittered, and let go of by degrees as calls succeed. Not safe for several threads.
 */
public final class Backoff {

    private final long firstNs;
    private final long maxNs;
    private final Randomness randomness;

    private int level;
    private long closedUntilNs;

    /**
     * @param firstNs the wait after the first trouble
     * @param maxNs no wait is longer
     */
    public Backoff(long firstNs, long maxNs, Randomness randomness) {
        this.firstNs = firstNs;
        this.maxNs = maxNs;
        this.randomness = randomness;
    }

    /** How long a call that would go out now has to wait; {@code 0} in good times. */
    public long delayNs(long nowNs) {
        long left = closedUntilNs - nowNs;
        if (level == 0 || left <= 0) {
            return 0;
        }
        // Spread over as much again, or everybody who waited would come back at once.
        return left + jitter(left);
    }

    /**
     * A call met trouble that goes away by waiting.
     *
     * @return how long that call should wait before it is tried again
     */
    public long onTrouble(long nowNs) {
        if (nowNs - closedUntilNs >= 0) {
            // Answers to calls that were out together count once: only trouble after the gate opened again raises the
            // wait.
            level = Math.min(level + 1, 30);
            closedUntilNs = nowNs + stepNs() / 2 + jitter(stepNs() / 2);
        }
        long left = Math.max(closedUntilNs - nowNs, firstNs / 2);
        return left + jitter(left);
    }

    /** A call was answered well. */
    public void onSuccess(long nowNs) {
        if (level > 0 && nowNs - closedUntilNs >= 0) {
            level--;
        }
    }

    /** Whether the last calls met trouble. */
    public boolean isHolding() {
        return level > 0;
    }

    private long stepNs() {
        long step = firstNs << Math.min(level - 1, 20);
        return step <= 0 ? maxNs : Math.min(step, maxNs);
    }

    private long jitter(long boundNs) {
        return boundNs <= 0 ? 0 : Math.floorMod(randomness.nextLong(), boundNs);
    }
}
