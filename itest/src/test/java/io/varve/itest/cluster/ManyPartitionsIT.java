package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A broker that owns very many partitions dies: the other one takes them all over at once, soon, and in the memory that it has. */
@Tag("alone")
class ManyPartitionsIT {

    private static final String TOPIC = "many";
    private static final int PARTITIONS = Integer.getInteger("varve.it.partitions", 200);
    /** With 384 MB of heap, and what a JVM has besides. */
    private static final long RESIDENT_MB_MAX = 800;

    private static final Duration PATIENCE = Duration.ofMinutes(4);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void allPartitionsOfADeadBrokerAreTakenOverAtOnce() throws Exception {
        ProcessCluster cluster =
                clusters.prepare(ClusterShape.of(1, 3, 2).withBroker("broker.rebalance.delay.ms", "-1"));
        ProcessCluster.awaitReady(cluster.launchMetadata(1));
        for (int id = 1; id <= 3; id++) {
            ProcessCluster.awaitReady(cluster.launchBookie(id));
        }
        ProcessCluster.awaitReady(cluster.launchBroker(1));
        cluster.createTopic(TOPIC, PARTITIONS, Map.of());
        ProcessCluster.awaitReady(cluster.launchBroker(2));
        AckLog acks = new AckLog(PARTITIONS);
        long[] againMs = new long[PARTITIONS];

        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(1, Long.MAX_VALUE, 5 * PARTITIONS);
            Await.until(
                    "each partition to be written to",
                    PATIENCE,
                    () -> Arrays.toString(ends(acks)),
                    () -> least(acks) >= 5);
            long residentBefore = residentMb(cluster, 2);
            long killedNs = System.nanoTime();
            cluster.broker(1).kill();
            long[] before = ends(acks);
            Await.until(
                    "each partition to be written to again",
                    PATIENCE,
                    () -> "ms of each " + Arrays.toString(againMs),
                    () -> noteAgain(acks, before, againMs, killedNs));
            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();

            Arrays.sort(againMs);
            long residentAfter = residentMb(cluster, 2);
            System.out.println(
                    "takeover of " + PARTITIONS + " partitions, ms from the kill to the next acknowledgement: first "
                            + againMs[0] + ", median " + againMs[PARTITIONS / 2] + ", last " + againMs[PARTITIONS - 1]
                            + "; most memory of the broker, MB: before " + residentBefore + ", after " + residentAfter);
            assertThat(residentAfter).isLessThan(RESIDENT_MB_MAX);
        }
        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE)
                .isExactly(acks)
                .hasNoDuplicatesAndKeepsOrder(Long.MAX_VALUE);
    }

    private static long least(AckLog acks) {
        return Arrays.stream(ends(acks)).min().orElseThrow();
    }

    private static long[] ends(AckLog acks) {
        long[] ends = new long[PARTITIONS];
        Arrays.setAll(ends, acks::end);
        return ends;
    }

    private static boolean noteAgain(AckLog acks, long[] before, long[] againMs, long killedNs) {
        boolean all = true;
        for (int partition = 0; partition < PARTITIONS; partition++) {
            if (againMs[partition] == 0 && acks.end(partition) > before[partition]) {
                againMs[partition] = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - killedNs);
            }
            all &= againMs[partition] > 0;
        }
        return all;
    }

    /** The most memory that a broker ever had resident. */
    private static long residentMb(ProcessCluster cluster, int broker) throws Exception {
        Path status = Path.of("/proc", Long.toString(cluster.broker(broker).pid()), "status");
        for (String line : Files.readAllLines(status)) {
            if (line.startsWith("VmHWM:")) {
                return Long.parseLong(line.replaceAll("\\D", "")) / 1024;
            }
        }
        throw new AssertionError("no VmHWM in " + status);
    }
}
