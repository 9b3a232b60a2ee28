package io.varve.itest.tier;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.StringJoiner;

/** How long records took to be acknowledged, counted from when they were due. Filled by one thread, looked at by another. */
final class TailTimes {

    private long[] micros = new long[1 << 16];
    private int count;
    private final List<Integer> ends = new ArrayList<>();

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

    /** What is added from now on is another part. */
    synchronized void endPart() {
        ends.add(count);
    }

    /** What 99 of 100 records stay within, in microseconds. */
    synchronized long p99Micros() {
        return p99Micros(0, count);
    }

    /** The same of each part that has ended, in milliseconds, for people. */
    synchronized String p99MsOfParts() {
        StringJoiner parts = new StringJoiner(", ");
        int from = 0;
        for (int end : ends) {
            parts.add(String.format("%.1f", p99Micros(from, end) / 1000.0));
            from = end;
        }
        return parts.toString();
    }

    private long p99Micros(int from, int end) {
        if (from == end) {
            throw new IllegalStateException("no record was acknowledged");
        }
        long[] sorted = Arrays.copyOfRange(micros, from, end);
        Arrays.sort(sorted);
        return sorted[(end - from) * 99 / 100];
    }
}
