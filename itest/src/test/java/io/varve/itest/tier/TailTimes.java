package io.varve.itest.tier;

import java.util.Arrays;

/** How long records took to be acknowledged, counted from when they were due. Filled by one thread, looked at by another. */
final class TailTimes {

    private long[] micros = new long[1 << 16];
    private int count;

    /** @param took in microseconds, negative for a record that failed: none took longer */
    synchronized void add(long took) {
        if (count == micros.length) {
            micros = Arrays.copyOf(micros, 2 * count);
        }
        micros[count++] = took < 0 ? Long.MAX_VALUE : took;
    }

    synchronized int count() {
        return count;
    }

    /** What 99 of 100 records stay within, in microseconds. */
    synchronized long p99Micros() {
        if (count == 0) {
            throw new IllegalStateException("no record was acknowledged");
        }
        long[] sorted = Arrays.copyOf(micros, count);
        Arrays.sort(sorted);
        return sorted[count * 99 / 100];
    }
}
