package io.varve.protocol.rpc;

import io.varve.base.Randomness;

/** How long to wait before trying again: doubling, each wait drawn from its upper half so that callers do not come in step. One owner. */
public final class Backoff {

    private final long waitMsMin;
    private final long waitMsMax;
    private final Randomness randomness;
    private long waitMs;

    /**
     * @param waitMsMin the first wait, positive
     * @param waitMsMax the longest, at most 2^30
     */
    public Backoff(long waitMsMin, long waitMsMax, Randomness randomness) {
        if (waitMsMin <= 0 || waitMsMax < waitMsMin || waitMsMax > 1 << 30) {
            throw new IllegalArgumentException("backoff from " + waitMsMin + " to " + waitMsMax + " ms");
        }
        this.waitMsMin = waitMsMin;
        this.waitMsMax = waitMsMax;
        this.randomness = randomness;
        this.waitMs = waitMsMin;
    }

    /** The next wait in milliseconds, between half and all of the present step. */
    public long nextMs() {
        long step = waitMs;
        waitMs = Math.min(waitMsMax, waitMs * 2);
        long half = step / 2;
        return half + randomness.nextInt((int) (step - half) + 1);
    }

    /** It went well: begin again with the shortest wait. */
    public void reset() {
        waitMs = waitMsMin;
    }
}
