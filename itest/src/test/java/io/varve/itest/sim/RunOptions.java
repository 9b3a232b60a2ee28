package io.varve.itest.sim;

import io.varve.metadata.core.PlannerSettings;
import io.varve.serving.partition.CompactionOptions;
import io.varve.serving.partition.PartitionOptions;
import io.varve.sim.SimRandomness;
import java.util.Arrays;

/**
 * What one run is like: drawn at its beginning, with many things left out of most runs, because rare combinations of few things are found by runs that have only those.
 *
 * @param zombies owners that don't know that they are none any more, with segments prepared on bookies that come and go: the hardest weather for fences
 * @param faultBookiesMax how many bookies are down at a time
 * @param lostDisksMax how many disks are lost in all: A - 1 of them cost no acknowledged entry, however slow the repair
 * @param localMs for how long bookies keep what object storage has; negative if the topic isn't tiered
 * @param syncNsMax how long a bookie's disk takes to make things durable; 0 for no time
 * @param weights of the kinds of {@link SimFaults.Kind}
 */
record RunOptions(
        int brokers,
        int bookies,
        int replicas,
        int acks,
        boolean zombies,
        int partitions,
        int producersPerPartition,
        int transactionsPerPartition,
        int faultBookiesMax,
        int lostDisksMax,
        long segmentMs,
        int segmentBytes,
        long localMs,
        boolean compacted,
        long syncNsMax,
        double lostPercent,
        double strayPercent,
        double bucketTroublePercent,
        long faultGapNs,
        int[] weights,
        PartitionOptions partitionOptions,
        PlannerSettings settings) {

    /** Manifests have a simulation of their own. */
    private static final int SEGMENTS_NEVER = 1_000_000;

    static RunOptions draw(SimRandomness random) {
        boolean zombies = random.percent(30);
        boolean compacted = random.percent(40);
        int bookies = zombies ? 5 : 3 + random.nextInt(4);
        int replicas = !zombies && random.percent(15) ? Math.min(5, bookies) : 3;
        int acks = replicas == 5 ? 3 : 2;
        int[] weights = new int[SimFaults.Kind.values().length];
        for (SimFaults.Kind kind : SimFaults.Kind.values()) {
            weights[kind.ordinal()] = random.percent(kind.absentPercent()) ? 0 : 1 + random.nextInt(4);
        }
        if (zombies) {
            weights[SimFaults.Kind.ISOLATE_BROKER.ordinal()] = 4;
            weights[SimFaults.Kind.KILL_BOOKIE.ordinal()] = 8;
        }
        return new RunOptions(
                2 + random.nextInt(2),
                bookies,
                replicas,
                acks,
                zombies,
                1 + random.nextInt(2),
                random.percent(20) ? 6 : 1,
                random.percent(50) ? 1 + random.nextInt(3) : 0,
                Math.min(replicas - acks, acks - 1),
                acks - 1,
                random.between(50, 3_000),
                !zombies && random.percent(50) ? 1 << 30 : 5_000 + random.nextInt(zombies ? 15_000 : 60_000),
                zombies || random.percent(40) ? -1 : random.between(0, 2_000),
                compacted,
                random.percent(40) ? 0 : random.between(100_000, 8_000_000),
                random.percent(50) ? 2 : 0,
                random.percent(40) ? 3 : 0,
                random.percent(50) ? 20 : 0,
                zombies ? 80_000_000L : random.between(50_000_000L, 900_000_000L),
                weights,
                partitions(random, compacted),
                planning(random));
    }

    private static PartitionOptions partitions(SimRandomness random, boolean compacted) {
        return new PartitionOptions(
                1,
                20,
                random.percent(30) ? 0 : random.nextInt(20_000),
                4_000 + random.nextInt(30_000),
                1 << 30,
                2_000 + random.nextInt(20_000),
                300 + random.nextInt(1_000),
                30_000,
                500 + random.nextInt(5_000),
                300,
                4,
                1 << 20,
                86_400_000L,
                random.percent(50) ? -1 : random.between(100, 1_000),
                compacted
                        ? new CompactionOptions(
                                random.between(20, 500),
                                Long.MAX_VALUE,
                                CompactionOptions.KEYS_BYTES_MIN,
                                CompactionOptions.INFLATED_BYTES_MIN)
                        : CompactionOptions.NEVER);
    }

    /** Everything a hundred times sooner than in earnest. */
    private static PlannerSettings planning(SimRandomness random) {
        int smallBytes = random.percent(50) ? 0 : random.nextInt(20_000);
        return new PlannerSettings(
                random.between(0, 300),
                smallBytes + random.nextInt(200_000),
                smallBytes,
                random.between(100, 1_000),
                random.between(500, 3_000),
                300_000,
                random.between(100, 1_000),
                random.between(100, 3_000),
                1 + random.nextInt(4),
                1 + random.nextInt(2),
                4,
                SEGMENTS_NEVER,
                1,
                600_000);
    }

    boolean isTiered() {
        return localMs >= 0;
    }

    @Override
    public String toString() {
        return "brokers " + brokers + " bookies " + bookies + " R " + replicas + " A " + acks
                + (zombies ? " zombies" : "")
                + " partitions " + partitions + " segmentMs " + segmentMs + " segmentBytes " + segmentBytes
                + " localMs "
                + localMs + " syncNsMax " + syncNsMax + " lost% " + lostPercent + " stray% " + strayPercent
                + " bucket% "
                + bucketTroublePercent + " gapNs " + faultGapNs + " weights " + Arrays.toString(weights);
    }
}
