package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** I-1: kill -9 of every process at once, under load, loses nothing that was acknowledged. */
class PowerCutIT {

    private static final String TOPIC = "cut";
    private static final int PARTITIONS = 8;
    private static final long STRIDE = 1_000_000_000L;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void everyProcessIsKilledAtOnceUnderLoadAndNothingAcknowledgedIsMissing() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(3, 3, 2));
        cluster.createTopic(TOPIC, PARTITIONS, Map.of("segment.bytes", "4194304"));
        AckLog acks = new AckLog(PARTITIONS);

        for (int round = 1; round <= 2; round++) {
            try (NumberedProducer producer =
                    new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, Duration.ofSeconds(60))) {
                long before = acks.count();
                producer.start(round * STRIDE + 1, Long.MAX_VALUE, 20_000);
                acks.awaitCount(before + 40_000, PATIENCE);
                cluster.killAll();
            }
            cluster.startAll();
            ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE)
                    .containsAllOf(acks)
                    .hasNoDuplicatesAndKeepsOrder(STRIDE);
        }
        assertThat(acks.count()).isGreaterThanOrEqualTo(80_000);
    }
}
