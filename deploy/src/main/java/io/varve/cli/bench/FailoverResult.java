package io.varve.cli.bench;

import java.util.List;

/**
 * What a failover run came to.
 *
 * @param writing the longest times without an acknowledgement
 * @param reading the longest times without a record
 * @param missing records that were acknowledged and never came
 * @param outOfOrder records that came again, or after a later one
 */
record FailoverResult(int kills, Spread writing, Spread reading, long acknowledged, long missing, long outOfOrder) {

    /** A distribution, in ms. */
    record Spread(long leastMs, long medianMs, long p90Ms, long worstMs, List<Long> sortedMs) {

        static Spread of(List<Long> ms) {
            List<Long> sorted = ms.stream().sorted().toList();
            if (sorted.isEmpty()) {
                return new Spread(0, 0, 0, 0, sorted);
            }
            int last = sorted.size() - 1;
            return new Spread(
                    sorted.get(0),
                    sorted.get(sorted.size() / 2),
                    sorted.get(Math.min(last, sorted.size() * 9 / 10)),
                    sorted.get(last),
                    sorted);
        }
    }

    static FailoverResult of(
            List<Long> writingMs, List<Long> readingMs, long acknowledged, long missing, long outOfOrder) {
        return new FailoverResult(
                writingMs.size(), Spread.of(writingMs), Spread.of(readingMs), acknowledged, missing, outOfOrder);
    }

    /** Whether nothing was lost, repeated or shuffled. */
    boolean isSound() {
        return missing == 0 && outOfOrder == 0;
    }
}
