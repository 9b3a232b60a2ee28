package io.varve.itest.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.partition.SegmentRules;
import io.varve.sim.SimSeeds;
import java.util.EnumMap;
import org.junit.jupiter.api.Test;

/** The whole cluster under faults, one life for each seed; see {@link ClusterRun}. */
class ClusterSimulation {

    private static final int SEEDS_THAT_SEE_ALL = 50;

    @Test
    void nothingAcknowledgedIsLostWhateverHappens() {
        long acknowledged = 0;
        EnumMap<Health.Sight, Integer> seen = new EnumMap<>(Health.Sight.class);
        long[] seeds = SimSeeds.all().toArray();
        for (long seed : seeds) {
            ClusterRun run = new ClusterRun(seed, SegmentRules.STANDARD);
            run.run();
            acknowledged += run.acknowledged();
            run.health().seen().keySet().forEach(sight -> seen.merge(sight, 1, Integer::sum));
        }
        assertThat(acknowledged).as("batches acknowledged").isPositive();
        System.out.println("simulated " + seeds.length + " clusters, " + acknowledged
                + " batches acknowledged, runs that saw " + seen);
        if (seeds.length >= SEEDS_THAT_SEE_ALL) {
            assertThat(seen).as("what the runs saw").containsOnlyKeys(Health.Sight.values());
        }
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
