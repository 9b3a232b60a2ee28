package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.cli.process.ChildProcess;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** I-1, I-2, I-14: two idempotent producers go on through the deaths of brokers and of a bookie, and the log holds exactly what they were told. */
class BrokerKillIT {

    private static final String TOPIC = "kills";
    private static final int PARTITIONS = 8;
    private static final int VALUE_BYTES = 100;
    private static final long STRIDE = 1_000_000_000L;
    private static final long RECORDS = Long.getLong("varve.it.records", 200_000);
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void ownersAndABookieAreKilledUnderLoadAndTheLogHoldsExactlyWhatWasAcknowledged() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(3, 3, 2));
        cluster.createTopic(TOPIC, PARTITIONS, Map.of("segment.bytes", "4194304"));
        AckLog acks = new AckLog(PARTITIONS);

        try (NumberedProducer one = new NumberedProducer(cluster.bootstrap(), TOPIC, VALUE_BYTES, acks, PATIENCE);
                NumberedProducer two = new NumberedProducer(cluster.bootstrap(), TOPIC, VALUE_BYTES, acks, PATIENCE)) {
            // Slow enough that every kill falls into the writing, however fast the machine is.
            int perSecond = (int) Math.max(2_000, RECORDS / 40);
            one.start(1, RECORDS / 2, perSecond);
            two.start(STRIDE + 1, RECORDS / 2, perSecond);

            acks.awaitCount(RECORDS / 8, PATIENCE);
            killOwnerAndRestart(cluster);
            acks.awaitCount(RECORDS * 3 / 8, PATIENCE);
            cluster.bookie(2).kill();
            acks.awaitCount(RECORDS * 4 / 8, PATIENCE);
            ProcessCluster.awaitReady(cluster.launchBookie(2));
            acks.awaitCount(RECORDS * 5 / 8, PATIENCE);
            killOwnerAndRestart(cluster);

            one.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            two.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(one.failure()).isNull();
            assertThat(two.failure()).isNull();
        }

        assertThat(acks.count()).isEqualTo(RECORDS / 2 * 2);
        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE)
                .isExactly(acks)
                .hasNoDuplicatesAndKeepsOrder(STRIDE);
    }

    private static void killOwnerAndRestart(ProcessCluster cluster) throws Exception {
        int owner = cluster.ownerOf(TOPIC, 0);
        cluster.broker(owner).kill();
        ChildProcess again = cluster.launchBroker(owner);
        ProcessCluster.awaitReady(again);
    }
}
