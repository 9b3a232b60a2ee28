package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.cli.process.ChildProcess;
import io.varve.metadata.model.PartitionState;
import io.varve.testing.TestPorts;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Partitions that change brokers on purpose: by an operator's drain, by SIGTERM, by balance. Nobody is fenced, and producers hardly notice. */
@Tag("alone")
class HandoverIT {

    private static final String TOPIC = "moving";
    private static final int PARTITIONS = 6;
    private static final Duration PATIENCE = Duration.ofMinutes(3);
    /** A client that learns from an error that its partition has moved asks for metadata and sends again: that, not the handover, is most of it. */
    private static final long PAUSE_MS_MAX = Long.getLong("varve.it.pause.ms", 1_500);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void drainedStoppedAndBalancedPartitionsAreHandedOverSealed() throws Exception {
        ProcessCluster cluster =
                clusters.start(ClusterShape.of(1, 3, 2).withBroker("broker.rebalance.delay.ms", "2000"));
        cluster.createTopic(TOPIC, PARTITIONS, Map.of());
        AckLog acks = new AckLog(PARTITIONS);
        Gaps gaps = new Gaps();
        try (Operator operator = new Operator(cluster, clusters.directory());
                NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.onAcknowledged(gaps).start(1, Long.MAX_VALUE, 300);
            acks.awaitMore(300, PATIENCE);
            gaps.takeLongestMs();

            operator.run("broker", "drain", "1");
            assertThat(owned(operator, 1)).isZero();
            acks.awaitMore(300, PATIENCE);
            long drainMs = gaps.takeLongestMs();

            operator.run("broker", "drain", "1", "--undo");
            Await.until(
                    "an even share again",
                    PATIENCE,
                    () -> owned(operator, 1) + " of " + PARTITIONS,
                    () -> owned(operator, 1) == PARTITIONS / 2);
            acks.awaitMore(300, PATIENCE);
            long balanceMs = gaps.takeLongestMs();

            cluster.broker(1).terminate();
            assertThat(cluster.broker(1).awaitExit(PATIENCE)).hasValue(0);
            acks.awaitMore(300, PATIENCE);
            long stopMs = gaps.takeLongestMs();
            producer.stop();
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();

            System.out.println("longest ms without any acknowledgement, at 300 records a second: drain " + drainMs
                    + ", balance " + balanceMs + ", SIGTERM " + stopMs);
            assertThat(drainMs).isLessThan(PAUSE_MS_MAX);
            assertThat(balanceMs).isLessThan(PAUSE_MS_MAX);
            assertThat(stopMs).isLessThan(PAUSE_MS_MAX);
        }
        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE)
                .isExactly(acks)
                .hasNoDuplicatesAndKeepsOrder(Long.MAX_VALUE);
    }

    /** I-14: a broker that stands still is replaced by a process of the same id. What the old one does when it wakes up is refused everywhere. */
    @Test
    void aNewProcessOfTheSameIdTakesTheOldOnesPartitionsOver() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 1));
        cluster.createTopic(TOPIC, 1, Map.of());
        AckLog acks = new AckLog(1);
        try (Operator operator = new Operator(cluster, clusters.directory())) {
            write(cluster.bootstrap(), acks, 1);
            PartitionState before = operator.partition(TOPIC, 0);
            ChildProcess old = cluster.broker(1);
            try (KafkaProducer<byte[], byte[]> toOld = new KafkaProducer<>(
                    once(cluster.bootstrap()), new ByteArraySerializer(), new ByteArraySerializer())) {
                toOld.partitionsFor(TOPIC);
                old.pause();
                var sent = toOld.send(new ProducerRecord<>(TOPIC, 0, null, new byte[100]));

                String address = "127.0.0.1:" + TestPorts.own().getAsInt();
                ProcessCluster.awaitReady(cluster.launchBrokerBeside(1, "PLAINTEXT://" + address));
                write(address, acks, 1_001);

                PartitionState after = operator.partition(TOPIC, 0);
                assertThat(after.owner()).isEqualTo(before.owner());
                assertThat(after.epoch()).as("what tells the processes apart").isGreaterThan(before.epoch());
                old.resume();
                assertThatThrownBy(() -> sent.get(60, TimeUnit.SECONDS))
                        .as("what the old process was sent")
                        .isInstanceOf(ExecutionException.class);
                write(address, acks, 2_001);
                assertThat(operator.partition(TOPIC, 0).epoch())
                        .as("the old process took nothing back")
                        .isEqualTo(after.epoch());
                ReadBack.of(address, TOPIC, 1, PATIENCE).isExactly(acks).hasNoDuplicatesAndKeepsOrder(10_000);
            }
        }
    }

    private static void write(String bootstrap, AckLog acks, long first) throws Exception {
        try (NumberedProducer producer = new NumberedProducer(bootstrap, TOPIC, 100, acks, PATIENCE)) {
            producer.start(first, 500, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
    }

    /** What the old process doesn't acknowledge must fail, not go elsewhere. */
    private static Map<String, Object> once(String bootstrap) {
        return Map.of(
                "bootstrap.servers", bootstrap,
                "acks", "all",
                "retries", 0,
                "enable.idempotence", false,
                "linger.ms", 0,
                "request.timeout.ms", 60_000,
                "delivery.timeout.ms", 60_000);
    }

    private static long owned(Operator operator, int broker) {
        return operator
                .view()
                .partitions(operator.view().topic(TOPIC).orElseThrow().id())
                .stream()
                .filter(partition -> partition.owner() == broker)
                .count();
    }
}
