package io.varve.serving.core.ownership;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class BalanceTest {

    private static Optional<Integer> successor(int self, int... counts) {
        TreeMap<Integer, Integer> byBroker = new TreeMap<>();
        for (int i = 0; i < counts.length; i++) {
            byBroker.put(i + 1, counts[i]);
        }
        return Balance.successor(self, byBroker);
    }

    @Test
    void theFullestHandsOverToTheEmptiest() {
        assertThat(successor(1, 20, 5, 0)).contains(3);
        assertThat(successor(2, 20, 5, 0)).isEmpty();
        assertThat(successor(3, 20, 5, 0)).isEmpty();
    }

    @Test
    void amongEquallyFullOnesTheFirstActs() {
        assertThat(successor(1, 9, 9, 1)).contains(3);
        assertThat(successor(2, 9, 9, 1)).isEmpty();
    }

    @Test
    void littleDifferencesStay() {
        assertThat(successor(1, 5, 4)).isEmpty();
        assertThat(successor(1, 105, 100)).isEmpty();
        assertThat(successor(1, 4, 2)).contains(2);
        assertThat(successor(1, 5)).isEmpty();
    }

    @Test
    void whoIsNotLiveHandsNothingOver() {
        assertThat(successor(9, 20, 0)).isEmpty();
    }

    @Test
    void aPartitionOfTheTopicThatIsMostUnevenGoes() {
        List<PartitionId> mine = List.of(of(1, 0), of(1, 1), of(2, 0), of(2, 1));
        assertThat(Balance.partition(mine, List.of(of(1, 2)))).contains(of(2, 0));
        assertThat(Balance.partition(List.of(), List.of())).isEmpty();
    }

    private static PartitionId of(int topic, int index) {
        return new PartitionId(new TopicId(topic, topic), index);
    }

    /** From anywhere, handing over one at a time comes to an end, and then nobody has much more than another. */
    @Test
    void itComesToAnEndAndThenAllIsEven() {
        SplittableRandom random = new SplittableRandom(1);
        for (int trial = 0; trial < 200; trial++) {
            TreeMap<Integer, Integer> counts = new TreeMap<>();
            int brokers = 2 + random.nextInt(6);
            for (int broker = 1; broker <= brokers; broker++) {
                counts.put(broker, random.nextInt(200));
            }
            long sum = counts.values().stream().mapToInt(Integer::intValue).sum();
            int moves = 0;
            while (moveOne(counts)) {
                assertThat(++moves).isLessThanOrEqualTo((int) sum);
            }
            int spread = counts.values().stream()
                            .mapToInt(Integer::intValue)
                            .max()
                            .orElseThrow()
                    - counts.values().stream().mapToInt(Integer::intValue).min().orElseThrow();
            assertThat((double) spread).isLessThanOrEqualTo(Math.max(1, 0.1 * sum / brokers));
        }
    }

    private static boolean moveOne(TreeMap<Integer, Integer> counts) {
        List<Map.Entry<Integer, Integer>> acting = new ArrayList<>();
        counts.keySet()
                .forEach(
                        broker -> Balance.successor(broker, counts).ifPresent(to -> acting.add(Map.entry(broker, to))));
        assertThat(acting).as("one acts at a time").hasSizeLessThanOrEqualTo(1);
        acting.forEach(move -> {
            counts.merge(move.getKey(), -1, Integer::sum);
            counts.merge(move.getValue(), 1, Integer::sum);
        });
        return !acting.isEmpty();
    }
}
