package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.varve.cli.link.MetadataLink;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * I-1, I-2, I-15: packets vanish between parts of a cluster, each on a host of its own, under a steady producer and a steady consumer. Service goes on where a quorum is, nothing acknowledged is lost, and all heals by itself.
 */
@Tag("alone")
@Timeout(600)
@EnabledIfSystemProperty(named = "varve.it.cuts", matches = "true")
class NetworkCutIT {

    private static final String TOPIC = "cuts";
    private static final int PARTITIONS = 4;
    private static final int PER_SECOND = 300;
    private static final int CUT_SECONDS = Integer.getInteger("varve.it.cut.seconds", 8);
    private static final long GAP_MS_MAX = Long.getLong("varve.it.cut.gap.ms", 15_000);
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private NetworkNamespaces network;
    private ProcessCluster cluster;
    private RemoteMetadataClient metadata;
    private AckLog acks;
    private NumberedProducer producer;
    private SteadyReader reader;
    private final AtomicLong lastAckNs = new AtomicLong();
    private final AtomicLong longestGapNs = new AtomicLong();

    /** What is cut, from when on. */
    private interface Cut {
        void make() throws Exception;
    }

    @AfterEach
    void takeTheNetworkAway() throws Exception {
        if (cluster != null) {
            cluster.close();
        }
        if (network != null) {
            network.close();
        }
    }

    @Test
    void serviceGoesOnWhereAQuorumIsAndHealsByItself() throws Exception {
        boolean canCut = NetworkNamespaces.areThere();
        if (!canCut) {
            System.out.println("SKIPPED network namespaces: this machine does not let this process make them");
        }
        assumeThat(canCut).isTrue();
        network = new NetworkNamespaces();
        cluster = clusters.prepare(ClusterShape.of(3, 3, 2), network);
        cluster.startAll();
        cluster.createTopic(TOPIC, PARTITIONS, Map.of("segment.bytes", "1048576"));
        acks = new AckLog(PARTITIONS);
        try (MetadataLink link = MetadataLink.open(cluster.metadataNodes(), PATIENCE)) {
            metadata = link.client();
            producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE);
            reader = new SteadyReader(cluster.bootstrap(), TOPIC, PARTITIONS);
            lastAckNs.set(System.nanoTime());
            producer.onAcknowledged(
                            nowNs -> longestGapNs.accumulateAndGet(nowNs - lastAckNs.getAndSet(nowNs), Math::max))
                    .start(1, Long.MAX_VALUE, PER_SECOND);
            acks.awaitMore(PER_SECOND, PATIENCE);

            during("broker 1 from all metadata nodes", this::cutBrokerFromMetadata);
            during("broker 1 from bookie 1", () -> network.cut("broker-1", "bookie-1"));
            during("bookie 2 to broker 2, one way", () -> network.cutOneWay("bookie-2", "broker-2"));
            during("the metadata leader from the other metadata nodes", this::cutMetadataLeader);
            during("bookie 3 from everything", this::cutBookieFromEverything);

            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
            Await.until(
                    "the consumer to have everything",
                    PATIENCE,
                    () -> reader.count() + " of " + acks.count(),
                    () -> reader.count() >= acks.count());
            assertThat(reader.wrong()).isEmpty();
        } finally {
            if (producer != null) {
                producer.close();
                reader.close();
            }
        }
        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE)
                .isExactly(acks)
                .hasNoDuplicatesAndKeepsOrder(Long.MAX_VALUE);
    }

    private void cutBrokerFromMetadata() throws Exception {
        for (int node = 1; node <= 3; node++) {
            network.cut("broker-1", "metadata-" + node);
        }
    }

    private void cutMetadataLeader() throws Exception {
        int leader = MetadataProcesses.status(metadata).leaderId();
        for (int node = 1; node <= 3; node++) {
            if (node != leader) {
                network.cut("metadata-" + leader, "metadata-" + node);
            }
        }
    }

    private void cutBookieFromEverything() throws Exception {
        for (String host : cluster.hosts()) {
            if (!host.equals("bookie-3")) {
                network.cut("bookie-3", host);
            }
        }
    }

    /** Cuts, sees that writing and reading go on meanwhile, heals, and waits until everything is as it was. */
    private void during(String what, Cut cut) throws Exception {
        longestGapNs.set(0);
        long startNs = System.nanoTime();
        cut.make();
        long before = acks.count();
        long read = reader.count();
        Await.until(
                CUT_SECONDS + " s to pass",
                PATIENCE,
                () -> System.nanoTime() - startNs >= TimeUnit.SECONDS.toNanos(CUT_SECONDS));
        // Service goes on before the cut is healed, not because of it.
        acks.awaitCount(before + PER_SECOND, PATIENCE);
        Await.until(
                what + " cut: reads",
                PATIENCE,
                () -> reader.count() + " read, " + acks.count() + " written",
                () -> reader.count() >= read + PER_SECOND);
        metadata.createTopic("while-" + startNs, 1, 3, Map.of()).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        long cutMs = (System.nanoTime() - startNs) / 1_000_000;
        network.heal();
        long healedNs = System.nanoTime();
        awaitHealthy();
        acks.awaitMore(PER_SECOND, PATIENCE);
        long gapMs = longestGapNs.get() / 1_000_000;
        System.out.printf(
                "cut %-50s %6d ms, longest without an acknowledgement %5d ms, whole again after %5d ms%n",
                what, cutMs, gapMs, (System.nanoTime() - healedNs) / 1_000_000);
        assertThat(gapMs).as(what).isLessThan(GAP_MS_MAX);
        assertThat(producer.failure()).isNull();
        assertThat(reader.wrong()).isEmpty();
    }

    private void awaitHealthy() {
        Await.until("everybody back, and every open segment on all its bookies", PATIENCE, () -> {
            try {
                return isHealthy(metadata.linearizable().get(10, TimeUnit.SECONDS))
                        && metadata.status().get(10, TimeUnit.SECONDS).members().size() == 3;
            } catch (Exception leaderless) {
                return false;
            }
        });
    }

    private static boolean isHealthy(MetadataView view) {
        return view.brokers().stream().allMatch(broker -> broker.state() == BrokerInfo.State.LIVE)
                && view.bookies().stream().allMatch(bookie -> bookie.state() == BookieInfo.State.WRITABLE)
                && view.topic(TOPIC).stream()
                        .flatMap(topic -> view.partitions(topic.id()).stream())
                        .allMatch(partition -> partition
                                .chain()
                                .open()
                                .filter(open -> open.replicas().size() == 3)
                                .isPresent());
    }
}
