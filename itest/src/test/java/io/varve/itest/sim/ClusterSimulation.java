package io.varve.itest.sim;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.core.partition.SegmentRules;
import io.varve.sim.SimSeeds;
import org.junit.jupiter.api.Test;

/** The whole cluster under faults, one life for each seed; see {@link ClusterRun}. */
class ClusterSimulation {

    @Test
    void nothingAcknowledgedIsLostWhateverHappens() {
        long acknowledged = 0;
        for (long seed : SimSeeds.all().toArray()) {
            ClusterRun run = new ClusterRun(seed, SegmentRules.STANDARD);
            run.run();
            acknowledged += run.acknowledged();
        }
        assertThat(acknowledged).as("batches acknowledged").isPositive();
    }

    @Test
    void theSameSeedMakesTheSameRun() {
        assertThat(new ClusterRun(7, SegmentRules.STANDARD).run())
                .isEqualTo(new ClusterRun(7, SegmentRules.STANDARD).run());
    }
}
