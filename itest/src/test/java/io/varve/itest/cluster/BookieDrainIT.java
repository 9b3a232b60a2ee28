package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.cli.process.ChildProcess;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** I-1, and the operator's view of it: a bookie can be emptied, or lost with everything on it, while it is written to, and no record is missed. */
class BookieDrainIT {

    private static final String TOPIC = "kept-on-bookies";
    private static final int PARTITIONS = 4;
    private static final int VALUE_BYTES = 1_000;
    private static final long MEGABYTES = Long.getLong("varve.it.drain.mb", 48);
    private static final Map<String, String> CONFIG = Map.of(
            "segment.bytes", Long.toString(Math.max(4 << 20, MEGABYTES << 14)), "remote.storage.enable", "false");
    private static final Duration PATIENCE = Duration.ofMinutes(10).plusSeconds(MEGABYTES);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final AckLog acks = new AckLog(PARTITIONS);

    @Test
    void aBookieIsEmptiedUnderLoadAndSwitchedOffAndNoRecordIsMissed() throws Exception {
        ProcessCluster cluster = filled(4);
        try (Operator operator = new Operator(cluster, clusters.directory());
                NumberedProducer producer = producer(cluster)) {
            long bytes = operator.bytesOn(4);
            producer.start(1_000_000_001, Long.MAX_VALUE, 500);

            long startedNs = System.nanoTime();
            try (ChildProcess drain = operator.type("bookie", "drain", "4")) {
                assertThat(drain.awaitExit(PATIENCE))
                        .as(String.join("\n", drain.lastLines()))
                        .hasValue(0);
                assertThat(drain.lastLines()).last().asString().contains("may be switched off");
            }
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNs);
            assertThat(operator.view().segmentsOn(new BookieId(4))).isEmpty();
            cluster.bookie(4).kill();
            deleteAll(Path.of(cluster.layout().bookie(4).get("bookie.data.dirs")));
            operator.awaitWhole(PATIENCE);
            Await.until("the bookie to be presumed gone", PATIENCE, () -> isRemoved(operator, 4));
            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
            System.out.println("drain of a bookie that held " + (bytes >> 20) + " MB under 500 records a second: "
                    + tookMs + " ms, " + (bytes >> 10) / Math.max(1, tookMs) + " MB/s");
        }
        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);
    }

    @Test
    void aLostDirectoryIsMadeGoodByItself() throws Exception {
        ProcessCluster cluster = filled(3);
        try (Operator operator = new Operator(cluster, clusters.directory());
                NumberedProducer producer = producer(cluster)) {
            producer.start(1_000_000_001, Long.MAX_VALUE, 500);
            long bytes = operator.bytesOn(2);
            cluster.bookie(2).kill();
            deleteAll(Path.of(cluster.layout().bookie(2).get("bookie.data.dirs")));

            long startedNs = System.nanoTime();
            ProcessCluster.awaitReady(cluster.launchBookie(2));
            Await.until(
                    "copies of " + bytes + " bytes on the new disk",
                    PATIENCE,
                    () -> operator.bytesOn(2) + " bytes",
                    () -> operator.bytesOn(2) >= bytes);
            operator.awaitWhole(PATIENCE);
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNs);
            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
            System.out.println(
                    "a lost directory of " + (bytes >> 20) + " MB was made good in " + tookMs + " ms under load");

            // What was made good is as good as the rest: the other two die in turn.
            cluster.bookie(1).kill();
            ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);
            ProcessCluster.awaitReady(cluster.launchBookie(1));
            cluster.bookie(3).kill();
            ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);
        }
    }

    /** A cluster with so many bookies, and so much in it that each of three would hold it all. */
    private ProcessCluster filled(int bookies) throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, bookies, 1)
                .withMetadata("metadata.confirm.delay.ms", "2000")
                .withBroker("broker.replica.avoid.ms", "3000"));
        cluster.createTopic(TOPIC, PARTITIONS, CONFIG);
        try (NumberedProducer producer = producer(cluster)) {
            producer.start(1, MEGABYTES * 1_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
        return cluster;
    }

    private NumberedProducer producer(ProcessCluster cluster) {
        return new NumberedProducer(cluster.bootstrap(), TOPIC, VALUE_BYTES, acks, PATIENCE);
    }

    private static boolean isRemoved(Operator operator, int bookie) {
        try {
            operator.metadata().removeBookie(new BookieId(bookie)).get(10, TimeUnit.SECONDS);
            return true;
        } catch (Exception notYet) {
            return false;
        }
    }

    private static void deleteAll(Path directory) throws java.io.IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
