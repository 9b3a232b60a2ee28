package io.varve.bookie.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.bookie.core.JournalRecovery;
import io.varve.bookie.core.JournalRecovery.Decision;
import io.varve.bookie.core.JournalRecovery.Later;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.RecoveryRule;
import io.varve.bookie.disk.SimDisk;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/**
 * Thousands of histories of a store whose disks lose power, tear, and fail, against an oracle of what was acknowledged. A run is its seed; {@code
 * -Dvarve.simulation.seeds} says how many.
 */
class StoreSimulation {

    private static final int SEEDS = Integer.getInteger("varve.simulation.seeds", 200);

    /** {@code -Dvarve.simulation.seed=…} runs that one again. */
    @Test
    void theSeedAskedForRunsAgain() {
        long seed = Long.getLong("varve.simulation.seed", 1);
        if (seed > 100_000) {
            failing(seed);
        } else {
            assertThat(history(seed, world -> {}, StoreSimulation::endOfLife).oracle.checks)
                    .isPositive();
        }
    }

    /** I-1, I-2, I-3, I-4. */
    @Test
    void powerCutsLoseNothingAcknowledgedAndInventNothing() {
        long checks = 0;
        int imports = 0;
        for (long seed = 1; seed <= SEEDS; seed++) {
            StoreWorld world = history(seed, any -> {}, StoreSimulation::endOfLife);
            checks += world.oracle.checks;
            imports += world.importsDone;
        }
        assertThat(checks).isGreaterThan(SEEDS * 100L);
        assertThat(imports).isGreaterThan(SEEDS);
    }

    /** I-12: whatever failed to be written was not acknowledged, and the start after it does not trust the page cache. */
    @Test
    void failedWritesAndFsyncsLoseNothingAcknowledged() {
        for (long seed = 100_001; seed <= 100_000 + SEEDS / 2; seed++) {
            failing(seed);
        }
    }

    /** Running full is no failure: whatever could not be written is written later, and no directory goes out of service for it. */
    @Test
    void disksThatRunFullLoseNothingAndStayInService() {
        int timesFull = 0;
        for (long seed = 500_001; seed <= 500_000 + SEEDS / 2; seed++) {
            timesFull += history(
                            seed,
                            world -> {
                                world.fillUp(world.random.nextInt(200_000));
                                world.live(world.random.nextInt(400));
                                if (world.random.nextBoolean()) {
                                    world.settleDown();
                                }
                                world.makeRoom();
                            },
                            StoreSimulation::endOfLife)
                    .timesFull;
        }
        assertThat(timesFull).isGreaterThan(SEEDS / 2);
    }

    @Test
    void aSlowDiskIsToldAndLosesNothing() {
        for (long seed = 600_001; seed <= 600_000 + SEEDS / 4; seed++) {
            history(
                    seed,
                    world -> {
                        world.beSlow(true);
                        world.live(world.random.nextInt(1000));
                        world.checkSlowIsTold();
                        world.beSlow(false);
                    },
                    StoreSimulation::endOfLife);
        }
    }

    private static void failing(long seed) {
        history(
                seed,
                world -> {
                    world.mayBeUnknown = true;
                    world.mayFail = true;
                    SimDisk disk = world.disks.get(world.random.nextInt(world.disks.size()));
                    if (world.random.nextBoolean()) {
                        disk.failWrites(world.random.nextInt(3));
                    } else {
                        disk.failForces(world.random.nextInt(3));
                    }
                },
                world -> {
                    world.mayBeUnknown = false;
                    endOfLife(world);
                });
    }

    @Test
    void aSeedReproducesARun() {
        for (long seed = 200_001; seed <= 200_010; seed++) {
            StoreWorld one = history(seed, world -> world.fillUp(10_000), StoreSimulation::endOfLifeWithRoom);
            StoreWorld other = history(seed, world -> world.fillUp(10_000), StoreSimulation::endOfLifeWithRoom);
            assertThat(other.trace).isEqualTo(one.trace);
            assertThat(other.oracle.checks).isEqualTo(one.oracle.checks);
        }
    }

    /** Acknowledging before the fsync, which is what a disk that lies makes of it, is found. */
    @Test
    void anAcknowledgementBeforeTheFsyncIsFound() {
        assertThat(failuresOf(300_000, world -> world.disks.forEach(disk -> disk.lieAboutForce(true))))
                .anyMatch(failure -> failure.contains("I-1"));
    }

    /** I-4: a fence that a restart doesn't find again is found missing. */
    @Test
    void aFenceForgottenAtARestartIsFound() {
        RecoveryRule forgetful = new RecoveryRule() {
            @Override
            public Decision decide(
                    JournalRecovery.Head head,
                    JournalRecovery.Order order,
                    JournalRecovery.Payload payload,
                    JournalRecovery.Place place,
                    JournalRecovery.Later later) {
                return JournalRecovery.decide(head, order, payload, place, later);
            }

            @Override
            public boolean applies(RecordType type) {
                return type != RecordType.FENCE;
            }
        };
        assertThat(failuresOf(700_000, world -> world.rule = forgetful))
                .anyMatch(failure -> failure.contains("I-4 a fence was forgotten"));
    }

    /** Taking for a torn tail whatever can't be read is found, once there is damage. */
    @Test
    void aWrongTailRuleIsFound() {
        assertThat(failuresOfFlips(400_000, true)).anyMatch(failure -> failure.contains("I-1"));
    }

    /** I-18, and the control of the one above: with the right rule, flipped bits never lose anything silently. */
    @Test
    void flippedBitsAreNeverTakenForATail() {
        assertThat(failuresOfFlips(400_000, false)).isEmpty();
    }

    private static void endOfLife(StoreWorld world) {
        switch (world.random.nextInt(4)) {
            case 0 -> world.disks.forEach(SimDisk::restart);
            case 1 -> {
                world.closeCleanly();
                world.disks.forEach(SimDisk::powerOff);
            }
            default -> world.disks.forEach(SimDisk::powerOff);
        }
    }

    private static void endOfLifeWithRoom(StoreWorld world) {
        world.makeRoom();
        endOfLife(world);
    }

    private static StoreWorld history(long seed, Consumer<StoreWorld> duringLife, Consumer<StoreWorld> end) {
        StoreWorld world = new StoreWorld(seed, 1 + (int) (seed % 2));
        try {
            int lives = 2 + world.random.nextInt(5);
            for (int life = 0; life < lives; life++) {
                live(world, duringLife);
                end.accept(world);
            }
            world.open();
            return world;
        } catch (AssertionError | Exception failure) {
            throw new AssertionError("seed " + seed + ": " + failure + " after " + tail(world.trace), failure);
        }
    }

    private static void live(StoreWorld world, Consumer<StoreWorld> duringLife) throws IOException {
        try {
            if (world.random.nextInt(5) == 0) {
                world.disks.get(0).cutPowerWithin(30);
            }
            world.open();
            world.live(world.random.nextInt(200));
            duringLife.accept(world);
            if (world.random.nextBoolean()) {
                world.disks.get(world.random.nextInt(world.disks.size())).cutPowerWithin(40);
            }
            world.live(world.random.nextInt(400));
        } catch (SimDisk.PowerCut atStart) {
            world.trace.add("power cut at the start");
        }
    }

    private static String tail(List<String> trace) {
        return String.join(", ", trace.subList(Math.max(0, trace.size() - 10), trace.size()));
    }

    private static List<String> failuresOf(long firstSeed, Consumer<StoreWorld> duringLife) {
        List<String> failures = new ArrayList<>();
        for (long seed = firstSeed; seed < firstSeed + Math.min(SEEDS, 50); seed++) {
            try {
                history(seed, duringLife, StoreSimulation::endOfLife);
            } catch (AssertionError failure) {
                failures.add(failure.getMessage());
            }
        }
        return failures;
    }

    private static List<String> failuresOfFlips(long firstSeed, boolean wrongRule) {
        List<String> failures = new ArrayList<>();
        for (long seed = firstSeed; seed < firstSeed + Math.min(SEEDS, 50); seed++) {
            StoreWorld world = new StoreWorld(seed, 1);
            if (wrongRule) {
                world.rule = (head, order, payload, place, later) -> {
                    Decision right = JournalRecovery.decide(head, order, payload, place, later);
                    boolean damage = right == Decision.JOURNAL_DAMAGED || right == Decision.SEGMENT_DAMAGED;
                    return damage && later == Later.LATER_GROUP ? Decision.END_TORN : right;
                };
            }
            try {
                world.open();
                world.live(600);
                world.closeCleanly();
                flipSomewhere(world);
                world.mayBeUnknown = true;
                world.open();
            } catch (AssertionError | Exception failure) {
                failures.add("seed " + seed + ": " + failure);
            }
        }
        return failures;
    }

    private static void flipSomewhere(StoreWorld world) {
        SimDisk disk = world.disks.get(0);
        List<String> journals =
                disk.names().stream().filter(name -> name.endsWith(".journal")).toList();
        String file = journals.get(world.random.nextInt(journals.size()));
        byte[] bytes = disk.bytes(file);
        int at = world.random.nextInt(bytes.length);
        while (bytes[at] == 0 && world.random.nextInt(2000) > 0) {
            at = world.random.nextInt(bytes.length);
        }
        disk.flip(file, at, world.random.nextInt(8));
    }
}
