package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

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

/** I-5, and the way around it: with two of three replicas lost nobody may take a partition over, until an operator says that the loss is accepted. */
class ForcedSealIT {

    private static final String TOPIC = "half-lost";
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void aPartitionWhoseReplicasAreGoneIsOwnedAgainAfterAForcedSeal() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 1));
        cluster.createTopic(TOPIC, 1, Map.of("remote.storage.enable", "false"));
        AckLog acks = new AckLog(1);
        write(cluster, acks, 1);
        try (Operator operator = new Operator(cluster, clusters.directory())) {
            try (ChildProcess needless = operator.type("partition", "seal", TOPIC, "0", "--accept-loss")) {
                assertThat(needless.awaitExit(PATIENCE))
                        .as("all replicas are there")
                        .hasValue(1);
                assertThat(String.join("\n", needless.lastLines())).contains("nothing is to be forced");
            }
            write(cluster, acks, 1_001);

            cluster.broker(1).kill();
            for (int id = 1; id <= 2; id++) {
                cluster.bookie(id).kill();
                deleteAll(Path.of(cluster.layout().bookie(id).get("bookie.data.dirs")));
                ProcessCluster.awaitReady(cluster.launchBookie(id));
            }
            ProcessCluster.awaitReady(cluster.launchBroker(1));
            try (ChildProcess look = operator.type("partition", "seal", TOPIC, "0")) {
                assertThat(look.awaitExit(PATIENCE))
                        .as(String.join("\n", look.lastLines()))
                        .hasValue(1);
                assertThat(String.join("\n", look.lastLines())).contains("Nothing was done", "there are 1.");
            }
            int epoch = operator.partition(TOPIC, 0).epoch();

            assertThat(operator.run("partition", "seal", TOPIC, "0", "--accept-loss"))
                    .contains("SEALED BY FORCE");

            assertThat(operator.partition(TOPIC, 0).epoch()).isGreaterThan(epoch);
            write(cluster, acks, 2_001);
            operator.awaitWhole(PATIENCE);
        }
        // The third replica happened to hold everything.
        ReadBack.of(cluster.bootstrap(), TOPIC, 1, PATIENCE).isExactly(acks).hasNoDuplicatesAndKeepsOrder(10_000);
    }

    private static void write(ProcessCluster cluster, AckLog acks, long first) throws Exception {
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(first, 500, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
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
