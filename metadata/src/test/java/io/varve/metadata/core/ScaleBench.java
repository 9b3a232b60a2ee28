package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.raft.SnapshotFile;
import io.varve.protocol.meta.ExpireSessionCommand;
import io.varve.protocol.meta.MetadataCommand;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What a large cluster costs: memory, snapshots, restart, catch-up of a fresh watcher, planning, creating. Not a part of the normal run:
 *
 * <pre>./mvnw -pl metadata -am test -Dtest=ScaleBench -Dvarve.bench=true -DargLine=-Xmx5g</pre>
 */
@EnabledIfSystemProperty(named = "varve.bench", matches = "true")
class ScaleBench {

    @TempDir
    Path directory;

    private static long usedBytes() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    private static void say(String what, Object value) {
        System.out.printf("%-58s %s%n", what, value);
    }

    private static double secondsSince(long startNs) {
        return (System.nanoTime() - startNs) / 1e9;
    }

    @Test
    void oneHundredThousandPartitionsWithAMillionSegments() throws IOException {
        Cluster cluster = LargeImage.nodes();
        long startNs = System.nanoTime();
        List<PartitionId> partitions = LargeImage.partitions(cluster);
        double seconds = secondsSince(startNs);
        say("partitions created, per second, state machine alone", Math.round(partitions.size() / seconds));

        startNs = System.nanoTime();
        for (PartitionId partition : partitions) {
            cluster.rolled(partition, 0);
        }
        say("first rolls (allocate and roll), per second", Math.round(partitions.size() / secondsSince(startNs)));
        cluster.records.clear();

        long before = usedBytes();
        MetadataImage image = LargeImage.withSegments(cluster.image(), partitions);
        long after = usedBytes();
        say("segments", image.segmentCount());
        say("memory of the sealed and offloaded segments, MiB", (after - before) >> 20);

        startNs = System.nanoTime();
        Path file = directory.resolve("snapshot");
        SnapshotFile.write(file, new SnapshotFile.State(image, CommandHistory.EMPTY), () -> false);
        say("snapshot written in s", secondsSince(startNs));
        say("snapshot MiB", Files.size(file) >> 20);

        startNs = System.nanoTime();
        MetadataImage read = SnapshotFile.read(file).image();
        say("snapshot read in s (a restart, or a fresh watcher's state)", secondsSince(startNs));
        if (!read.equals(image)) {
            throw new AssertionError("the snapshot differs");
        }

        Plan.Cursor cursor = Plan.Cursor.START;
        startNs = System.nanoTime();
        int looks = 0;
        do {
            cursor = Planner.plan(image, cluster.nowMs, PlannerSettings.DEFAULT, cursor)
                    .next();
            looks++;
        } while (!cursor.isAtStart());
        say("looks of the planners for one round", looks);
        say("ms a look", 1e3 * secondsSince(startNs) / looks);

        startNs = System.nanoTime();
        MetadataStateMachine machine = new MetadataStateMachine(image, CommandHistory.EMPTY);
        var applied = machine.apply(
                image.version() + 1,
                MetadataCommand.newBuilder()
                        .setNowMs(cluster.nowMs)
                        .setExpireSession(
                                ExpireSessionCommand.newBuilder().setBroker(1).setSessionId(101))
                        .build());
        say("a broker's " + (applied.records().size() - 1) + " partitions given away in s", secondsSince(startNs));

        startNs = System.nanoTime();
        int found = image.segmentsOn(new BookieId(1)).size();
        say("segmentsOn walked to " + found + " segments in s", secondsSince(startNs));
    }
}
