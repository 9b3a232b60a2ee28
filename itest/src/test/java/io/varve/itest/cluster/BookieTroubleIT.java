package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.NotEnoughReplicasException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Bookies that die, hang, are too few, and come back, while a producer writes. */
@Tag("alone")
class BookieTroubleIT {

    private static final String TOPIC = "steady";
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    /** One fsync's tail on a disk that others use too. A pause that waits for anything, a session or a time-out, is longer. */
    private static final long PAUSE_MS_MAX = Long.getLong("varve.it.pause.ms", 1_500);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void oneReplicaThatDiesOrHangsPausesNobodyAndIsWrittenToAgainLater() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 4, 1)
                .withMetadata("metadata.confirm.delay.ms", "2000")
                .withBroker("broker.replica.lag.ms", "1000")
                .withBroker("broker.replica.avoid.ms", "3000"));
        cluster.createTopic(TOPIC, 1, Map.of());
        AckLog acks = new AckLog(1);
        Gaps gaps = new Gaps();
        try (Operator operator = new Operator(cluster, clusters.directory());
                NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.onAcknowledged(gaps).start(1, Long.MAX_VALUE, 200);
            acks.awaitMore(600, PATIENCE);
            gaps.takeLongestMs();
            acks.awaitMore(600, PATIENCE);
            long calmMs = gaps.takeLongestMs();

            int dead = operator.writtenTo(TOPIC, 0).first();
            cluster.bookie(dead).kill();
            Await.until(
                    "a segment without dead bookie " + dead,
                    PATIENCE,
                    () -> "on " + operator.writtenTo(TOPIC, 0),
                    () -> isWrittenWithout(operator, dead));
            acks.awaitMore(200, PATIENCE);
            long deadMs = gaps.takeLongestMs();

            ProcessCluster.awaitReady(cluster.launchBookie(dead));
            int hung = operator.writtenTo(TOPIC, 0).last();
            gaps.takeLongestMs();
            cluster.bookie(hung).pause();
            Await.until(
                    "a segment without hung bookie " + hung,
                    PATIENCE,
                    () -> "on " + operator.writtenTo(TOPIC, 0),
                    () -> isWrittenWithout(operator, hung));
            acks.awaitMore(200, PATIENCE);
            long hungMs = gaps.takeLongestMs();
            cluster.bookie(hung).resume();

            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
            System.out.println("longest ms without an acknowledgement, at 200 records a second: in calm " + calmMs
                    + ", when a replica died " + deadMs + ", when one hung " + hungMs);
            assertThat(deadMs).isLessThan(PAUSE_MS_MAX);
            assertThat(hungMs).isLessThan(PAUSE_MS_MAX);
            operator.awaitWhole(PATIENCE);
        }
        ReadBack.of(cluster.bootstrap(), TOPIC, 1, PATIENCE)
                .isExactly(acks)
                .hasNoDuplicatesAndKeepsOrder(Long.MAX_VALUE);
    }

    @Test
    void withTooFewBookiesProducersAreToldAndItGoesOnByItself() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 1));
        cluster.createTopic(TOPIC, 1, Map.of());
        AckLog acks = new AckLog(1);
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(1, Long.MAX_VALUE, 100);
            acks.awaitMore(100, PATIENCE);
            cluster.bookie(1).kill();
            cluster.bookie(2).kill();

            Await.until("NOT_ENOUGH_REPLICAS", PATIENCE, () -> isToldNotEnough(cluster));

            ProcessCluster.awaitReady(cluster.launchBookie(1));
            acks.awaitMore(200, PATIENCE);
            ProcessCluster.awaitReady(cluster.launchBookie(2));
            acks.awaitMore(200, PATIENCE);
            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).as("the steady producer only waited").isNull();
        }
        ReadBack.of(cluster.bootstrap(), TOPIC, 1, PATIENCE).containsAllOf(acks);
    }

    /** A producer that doesn't try again is told why. */
    private static boolean isToldNotEnough(ProcessCluster cluster) {
        Map<String, Object> once = Map.of(
                "bootstrap.servers", cluster.bootstrap(),
                "acks", "all",
                "retries", 0,
                "enable.idempotence", false,
                "linger.ms", 0,
                "request.timeout.ms", 3_000,
                "delivery.timeout.ms", 3_000,
                "max.block.ms", 3_000);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(once, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(TOPIC, 0, null, NumberedProducer.valueOf(900_000_000, 100)))
                    .get(10, TimeUnit.SECONDS);
            return false;
        } catch (ExecutionException e) {
            return e.getCause() instanceof NotEnoughReplicasException;
        } catch (Exception notYet) {
            return false;
        }
    }

    private static boolean isWrittenWithout(Operator operator, int bookie) {
        var bookies = operator.writtenTo(TOPIC, 0);
        return bookies.size() == 3 && !bookies.contains(bookie);
    }
}
