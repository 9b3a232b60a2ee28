package io.varve.metadata.server;

import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.LargeImage;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.model.Topic;
import io.varve.metadata.raft.SnapshotFile;
import io.varve.metadata.testing.MetadataCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the service costs at 100,000 partitions and a million segments, through its real log, sockets and disk: a node's start, the catch-up of a fresh broker's watch, the rate of commands. Not a part of the normal run:
 *
 * <pre>./mvnw -pl metadata -am test -Dtest=ServiceScaleBench -Dvarve.bench=true -DargLine=-Xmx5g</pre>
 */
@EnabledIfSystemProperty(named = "varve.bench", matches = "true")
class ServiceScaleBench {

    private static final int IN_FLIGHT = 64;

    @TempDir
    Path directory;

    private static void say(String what, Object value) {
        System.out.printf("%-66s %s%n", what, value);
    }

    private static double secondsSince(long startNs) {
        return Math.round((System.nanoTime() - startNs) / 1e7) / 1e2;
    }

    private static long usedBytes() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    @Test
    void aNodesStartAWatchsCatchUpAndTheRateOfCommands() throws Exception {
        Path backup = directory.resolve("backup");
        SnapshotFile.write(backup, new SnapshotFile.State(LargeImage.make(), CommandHistory.EMPTY), () -> false);
        try (MetadataCluster cluster = new MetadataCluster(directory, 1)) {
            MetadataBackup.restore(backup, cluster.directoryOf(1), System.currentTimeMillis());
            long emptyBytes = usedBytes();
            long startNs = System.nanoTime();
            cluster.start(1).awaitFormed();
            RemoteMetadataClient client = cluster.client();
            awaitEverything(client);
            say("first start from a backup, and a client that has everything, s", secondsSince(startNs));

            cluster.stop(1);
            startNs = System.nanoTime();
            cluster.start(1).awaitFormed();
            say("a node's restart: state read, s", secondsSince(startNs));
            RemoteMetadataClient again = cluster.client();
            startNs = System.nanoTime();
            awaitEverything(again);
            say("until it leads and a fresh watch has everything, s", secondsSince(startNs));
            long nodeBytes = usedBytes() - emptyBytes;
            RemoteMetadataClient third = cluster.client();
            startNs = System.nanoTime();
            awaitEverything(third);
            say("catch-up of one more fresh watch, s", secondsSince(startNs));
            say("memory: the node and two watchers in one process, MiB", nodeBytes >> 20);
            MetadataImage image = third.image();
            say("partitions, segments", image.partitionCount() + ", " + image.segmentCount());

            say("topics of 1 partition created a second, " + IN_FLIGHT + " at a time", rate(third, 1, 3_000));
            say("partitions created a second, in topics of 100", 100 * rate(third, 100, 100));
            say("disk of the node, MiB", bytesBelow(cluster.directoryOf(1)) >> 20);
        }
    }

    /** A read gives up after its deadline, but the state that it waits for goes on coming. */
    private static void awaitEverything(RemoteMetadataClient client) throws TimeoutException {
        MetadataCluster.await("a view of everything", TimeUnit.MINUTES.toMillis(10), () -> {
            try {
                client.linearizable().join();
                return true;
            } catch (CompletionException late) {
                return false;
            }
        });
    }

    private static long rate(RemoteMetadataClient client, int partitions, int count) {
        long startNs = System.nanoTime();
        List<CompletableFuture<Topic>> underWay = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            underWay.add(client.createTopic("made-" + partitions + "-" + i, partitions, 3, Map.of()));
            if (underWay.size() == IN_FLIGHT) {
                underWay.remove(0).join();
            }
        }
        underWay.forEach(CompletableFuture::join);
        return Math.round(count / ((System.nanoTime() - startNs) / 1e9));
    }

    private static long bytesBelow(Path root) throws IOException {
        try (Stream<Path> files = Files.walk(root)) {
            return files.filter(Files::isRegularFile)
                    .mapToLong(file -> file.toFile().length())
                    .sum();
        }
    }
}
