package io.varve.itest.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.partition.SegmentRules;
import io.varve.sim.SimSeeds;
import java.util.EnumMap;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** The whole cluster under faults, one life for each seed; see {@link ClusterRun}. */
class ClusterSimulation {

    private static final int SEEDS_THAT_SEE_ALL = 50;

    @Test
    void nothingAcknowledgedIsLostWhateverHappens() {
        // Lives have nothing to do with one another: each processor takes some.
        List<Life> lives =
                SimSeeds.all().parallel().mapToObj(ClusterSimulation::live).toList();
        EnumMap<Health.Sight, Integer> seen = new EnumMap<>(Health.Sight.class);
        lives.forEach(life -> life.seen().forEach(sight -> seen.merge(sight, 1, Integer::sum)));
        long acknowledged = lives.stream().mapToLong(Life::acknowledged).sum();
        assertThat(acknowledged).as("batches acknowledged").isPositive();
        System.out.println("simulated " + lives.size() + " clusters, " + acknowledged
                + " batches acknowledged, runs that saw " + seen);
        if (lives.size() >= SEEDS_THAT_SEE_ALL) {
            assertThat(seen).as("what the runs saw").containsOnlyKeys(Health.Sight.values());
        }
    }

    private record Life(long acknowledged, Set<Health.Sight> seen) {}

    private static Life live(long seed) {
        ClusterRun run = new ClusterRun(seed, SegmentRules.STANDARD);
        run.run();
        return new Life(run.acknowledged(), run.health().seen().keySet());
    }

    @Test
    void theSameSeedMakesTheSameRun() {
        for (long seed = 1; seed <= 10; seed++) {
            assertThat(new ClusterRun(seed, SegmentRules.STANDARD).run())
                    .as("the trace of seed %d", seed)
                    .isEqualTo(new ClusterRun(seed, SegmentRules.STANDARD).run());
        }
    }
}
