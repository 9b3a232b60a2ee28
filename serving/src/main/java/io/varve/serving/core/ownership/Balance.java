package io.varve.serving.core.ownership;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import java.util.Collection;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * How live brokers come to have about as many partitions each: the one with the most hands one over to the one with the fewest, again and again, until they differ by
 * little. Every broker applies the rule to itself on the same counts, so that one of them acts; should two act on different versions, the result is a little less
 * even for a moment, and nothing else, because each handover is the owner's own.
 */
public final class Balance {

    /** Brokers may differ by this share of the mean. */
    private static final double SHARE_TOLERATED = 0.1;

    private Balance() {}

    /**
     * To whom this broker should hand a partition over now.
     *
     * @param counts how many partitions each live broker owns
     * @return empty if it isn't this broker's turn, or all is even
     */
    public static Optional<Integer> successor(int self, SortedMap<Integer, Integer> counts) {
        Integer mine = counts.get(self);
        if (mine == null) {
            return Optional.empty();
        }
        int fewest = self;
        long sum = 0;
        for (Map.Entry<Integer, Integer> broker : counts.entrySet()) {
            sum += broker.getValue();
            boolean isFuller = broker.getValue() > mine || broker.getValue().equals(mine) && broker.getKey() < self;
            if (isFuller) {
                return Optional.empty();
            }
            fewest = broker.getValue() < counts.get(fewest) ? broker.getKey() : fewest;
        }
        int difference = mine - counts.get(fewest);
        boolean isDue = difference >= 2 && difference > SHARE_TOLERATED * sum / counts.size();
        return isDue ? Optional.of(fewest) : Optional.empty();
    }

    /** The partition to hand over: one of the topic in which the two differ most. */
    public static Optional<PartitionId> partition(Collection<PartitionId> mine, Collection<PartitionId> successors) {
        TreeMap<TopicId, Integer> lead = new TreeMap<>();
        mine.forEach(p -> lead.merge(p.topic(), 1, Integer::sum));
        successors.forEach(p -> lead.merge(p.topic(), -1, Integer::sum));
        PartitionId best = null;
        for (PartitionId candidate : mine) {
            if (best == null || lead.get(candidate.topic()) > lead.get(best.topic())) {
                best = candidate;
            }
        }
        return Optional.ofNullable(best);
    }
}
