package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** How long a steady producer waits when the broker that it writes to is killed: the time budget, measured. */
@Tag("alone")
class FailoverIT {

    private static final String TOPIC = "steady";
    private static final int KILLS = Integer.getInteger("varve.it.kills", 5);
    /** The budget, a second and three, holds on a machine that does nothing else: the slow profile asks for it. */
    private static final long MEDIAN_MS_MAX = Long.getLong("varve.it.failover.median.ms", 3_000);

    private static final long WORST_MS_MAX = Long.getLong("varve.it.failover.worst.ms", 10_000);
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void aProducerWritesAgainSoonAfterTheDeathOfItsBroker() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 2));
        cluster.createTopic(TOPIC, 1, Map.of());
        AckLog acks = new AckLog(1);
        AtomicLong lastAckNs = new AtomicLong(System.nanoTime());
        AtomicLong longestGapNs = new AtomicLong();
        long[] gapsMs = new long[KILLS];

        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.onAcknowledged(nowNs -> {
                        long gapNs = nowNs - lastAckNs.getAndSet(nowNs);
                        longestGapNs.accumulateAndGet(gapNs, Math::max);
                    })
                    .start(1, Long.MAX_VALUE, 200);
            for (int kill = 0; kill < KILLS; kill++) {
                acks.awaitMore(400, PATIENCE);
                longestGapNs.set(0);
                int owner = cluster.ownerOf(TOPIC, 0);
                cluster.broker(owner).kill();
                Await.until("another owner", PATIENCE, () -> ownerIsNot(cluster, owner));
                acks.awaitMore(200, PATIENCE);
                gapsMs[kill] = longestGapNs.get() / 1_000_000;
                ProcessCluster.awaitReady(cluster.launchBroker(owner));
            }
            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }

        Arrays.sort(gapsMs);
        System.out.println("failover, ms without an acknowledgement, sorted: " + Arrays.toString(gapsMs));
        ReadBack.of(cluster.bootstrap(), TOPIC, 1, PATIENCE)
                .isExactly(acks)
                .hasNoDuplicatesAndKeepsOrder(Long.MAX_VALUE);
        assertThat(gapsMs[KILLS / 2]).as("median").isLessThan(MEDIAN_MS_MAX);
        assertThat(gapsMs[KILLS - 1]).as("worst").isLessThan(WORST_MS_MAX);
    }

    private static boolean ownerIsNot(ProcessCluster cluster, int broker) {
        try {
            return cluster.ownerOf(TOPIC, 0) != broker;
        } catch (Exception e) {
            return false; // nobody answers yet
        }
    }
}
