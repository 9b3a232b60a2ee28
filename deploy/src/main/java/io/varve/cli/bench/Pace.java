package io.varve.cli.bench;

import java.util.concurrent.locks.LockSupport;

/**
 * When each of a stream's records is due. Open loop: what is late is not skipped, and its lateness counts as latency, so that a stall
 * shows in every record it held up.
 */
final class Pace {

    private final long startNs;
    private final double intervalNs;

    /** @param rate records in a second; 0 makes each due when it is asked for */
    Pace(long startNs, long rate) {
        this.startNs = startNs;
        this.intervalNs = rate == 0 ? 0 : 1e9 / rate;
    }

    /** When record {@code number}, from 0, is due, if it were {@code nowNs}. */
    long dueNs(long number, long nowNs) {
        return intervalNs == 0 ? nowNs : startNs + Math.round(number * intervalNs);
    }

    /** Waits until record {@code number} is due, and says when that was. */
    long await(long number) {
        long dueNs = dueNs(number, System.nanoTime());
        for (long left = dueNs - System.nanoTime(); left > 0; left = dueNs - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        return dueNs;
    }
}
