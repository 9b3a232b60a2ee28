package io.varve.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SimKitTest {

    @Test
    void eventsRunInTheOrderOfTheirTimesAndCancelledOnesNever() {
        SimScheduler scheduler = new SimScheduler(1);
        List<String> ran = new ArrayList<>();
        scheduler.schedule(30, () -> ran.add("c"));
        scheduler.schedule(10, () -> ran.add("a"));
        scheduler.schedule(20, () -> ran.add("never")).cancel();
        scheduler.schedule(20, () -> ran.add("b"));
        scheduler.runFor(25);
        assertThat(ran).containsExactly("a", "b");
        assertThat(scheduler.nanoTime()).isEqualTo(26);
        scheduler.runFor(10);
        assertThat(ran).containsExactly("a", "b", "c");
    }

    @Test
    void aKilledProcessForgetsWhatItScheduledAndAPausedOneIsLate() {
        SimScheduler scheduler = new SimScheduler(2);
        SimProcess process = new SimProcess(scheduler, "p");
        List<Long> ran = new ArrayList<>();
        process.schedule(100, () -> ran.add(scheduler.nanoTime()));
        process.pause();
        scheduler.runFor(1_000);
        assertThat(ran).isEmpty();
        process.resume();
        scheduler.runFor(1);
        assertThat(ran).containsExactly(1_001L);
        process.schedule(100, () -> ran.add(-1L));
        process.kill();
        process.start();
        scheduler.runFor(1_000);
        assertThat(ran).hasSize(1);
    }

    @Test
    void orderedMessagesAreNotOvertakenAndACutSwallowsWhatIsUnderWay() {
        for (long seed = 1; seed <= 50; seed++) {
            SimScheduler scheduler = new SimScheduler(seed);
            SimNetwork network = new SimNetwork(scheduler);
            network.setFaults(new SimNetwork.Faults(1, 1_000, 0, 0, 20));
            List<Integer> arrived = new ArrayList<>();
            for (int i = 0; i < 20; i++) {
                int number = i;
                network.sendOrdered("a", "b", () -> arrived.add(number), () -> arrived.add(-1));
            }
            scheduler.runFor(1_000_000);
            assertThat(arrived).isSorted().hasSize(20).doesNotContain(-1);
            network.send("a", "b", () -> arrived.add(99));
            network.cut("a", "b");
            scheduler.runFor(1_000_000);
            assertThat(arrived).doesNotContain(99);
        }
    }

    @Test
    void aSeedReproducesARunAndAnotherSeedMakesAnother() {
        assertThat(traceOf(7)).isEqualTo(traceOf(7)).isNotEqualTo(traceOf(8));
    }

    @Test
    void aBrokenInvariantNamesTheSeedAndCarriesTheTrace() {
        SimScheduler scheduler = new SimScheduler(42);
        int[] counted = {0};
        scheduler.watch(() -> assertThat(counted[0]).as("I-0").isLessThan(2));
        scheduler.schedule(1, () -> counted[0]++);
        scheduler.schedule(2, () -> {
            scheduler.trace("about to break");
            counted[0]++;
        });
        assertThatThrownBy(() -> scheduler.runFor(10))
                .isInstanceOf(SimFailure.class)
                .hasMessageStartingWith("seed 42, event 2")
                .hasMessageContaining("about to break");
    }

    @Test
    void seedsComeAsACountOrARange() {
        assertThat(SimSeeds.parse("3")).containsExactly(1L, 2L, 3L);
        assertThat(SimSeeds.parse("17:18")).containsExactly(17L, 18L);
    }

    private static long traceOf(long seed) {
        SimScheduler scheduler = new SimScheduler(seed);
        SimNetwork network = new SimNetwork(scheduler);
        network.setFaults(SimNetwork.Faults.BAD);
        for (int i = 0; i < 200; i++) {
            int number = i;
            network.send("a", "b", () -> scheduler.trace("got " + number));
        }
        scheduler.runFor(1_000_000_000);
        return scheduler.traceHash();
    }
}
