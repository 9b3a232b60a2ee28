package io.varve.itest.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Share groups (KIP-932) of the stock client on real processes: what was acknowledged stays so when its broker is killed. */
class ShareGroupIT {

    private static final String TOPIC = "queue";
    private static final String GROUP = "workers";
    private static final int PARTITIONS = 1;
    private static final int RECORDS = 600;
    private static final int LOCK_MS = 4_000;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    /** How often each record was accepted, and how often each was handed out. */
    private final Map<String, Integer> accepted = new TreeMap<>();

    private final Map<String, Integer> delivered = new TreeMap<>();

    @Test
    void whatWasAcceptedBeforeABrokerIsKilledDoesNotComeAgainAndTheRestDoes() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 2)
                .withBroker("group.share.min.record.lock.duration.ms", "1000")
                .withBroker("group.share.record.lock.duration.ms", Integer.toString(LOCK_MS))
                .withBroker("share.coordinator.state.topic.num.partitions", "4"));
        cluster.createTopic(TOPIC, PARTITIONS, Map.of());
        beginAtTheEarliest(cluster);
        AckLog acks = new AckLog(PARTITIONS);
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(1, RECORDS, 0);
            producer.done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }

        try (KafkaShareConsumer<byte[], byte[]> worker = worker(cluster);
                KafkaShareConsumer<byte[], byte[]> idler = worker(cluster)) {
            worker.subscribe(Set.of(TOPIC));
            work(worker, RECORDS / 3);
            assertThat(accepted.values()).containsOnly(1);

            // Some are with a member that says nothing of them when the owner dies.
            idler.subscribe(Set.of(TOPIC));
            int held = 0;
            for (int polls = 0; polls < 50 && held == 0; polls++) {
                held = idler.poll(Duration.ofMillis(200)).count();
            }
            assertThat(held).as("records with the member that says nothing").isPositive();
            cluster.broker(cluster.ownerOf(TOPIC, 0)).kill();
            work(worker, RECORDS);
        }

        assertThat(accepted).hasSize(RECORDS);
        long twice = accepted.values().stream().filter(times -> times > 1).count();
        assertThat(twice)
                .as("accepted, but the answer was lost with the broker")
                .isLessThan(RECORDS / 6);

        try (KafkaShareConsumer<byte[], byte[]> late = worker(cluster)) {
            late.subscribe(Set.of(TOPIC));
            long untilNs = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(LOCK_MS * 2);
            int again = 0;
            while (System.nanoTime() < untilNs) {
                again += late.poll(Duration.ofMillis(200)).count();
            }
            assertThat(again).as("records that come though all were accepted").isZero();
        }
        try (Admin admin = cluster.admin()) {
            Map<TopicPartition, ?> offsets = admin.listShareGroupOffsets(
                            Map.of(GROUP, new org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec()))
                    .partitionsToOffsetInfo(GROUP)
                    .get(60, TimeUnit.SECONDS);
            assertThat(offsets).hasSize(PARTITIONS);
        }
    }

    /** Accepts until so many different records were; of each poll the first is given back once. */
    private void work(KafkaShareConsumer<byte[], byte[]> worker, int until) {
        long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
        while (accepted.size() < until && System.nanoTime() < deadlineNs) {
            boolean first = true;
            Map<String, ConsumerRecord<byte[], byte[]>> taken = new HashMap<>();
            for (ConsumerRecord<byte[], byte[]> record : worker.poll(Duration.ofMillis(500))) {
                deliver(record);
                boolean release = first && delivered.get(nameOf(record)) == 1;
                first = false;
                worker.acknowledge(record, release ? AcknowledgeType.RELEASE : AcknowledgeType.ACCEPT);
                if (!release) {
                    taken.put(nameOf(record), record);
                }
            }
            var results = worker.commitSync(Duration.ofSeconds(30));
            taken.forEach((name, record) -> {
                boolean failed = results.entrySet().stream()
                        .anyMatch(result -> result.getKey().partition() == record.partition()
                                && result.getValue().isPresent());
                if (!failed) {
                    accepted.merge(name, 1, Integer::sum);
                }
            });
        }
    }

    private void deliver(ConsumerRecord<byte[], byte[]> record) {
        delivered.merge(nameOf(record), 1, Integer::sum);
    }

    private static String nameOf(ConsumerRecord<byte[], byte[]> record) {
        return record.partition() + "-" + record.offset();
    }

    private static void beginAtTheEarliest(ProcessCluster cluster) throws Exception {
        try (Admin admin = cluster.admin()) {
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.GROUP, GROUP),
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("share.auto.offset.reset", "earliest"), AlterConfigOp.OpType.SET))))
                    .all()
                    .get(60, TimeUnit.SECONDS);
        }
    }

    private static KafkaShareConsumer<byte[], byte[]> worker(ProcessCluster cluster) {
        return new KafkaShareConsumer<>(
                Map.of(
                        "bootstrap.servers", cluster.bootstrap(),
                        "group.id", GROUP,
                        "share.acknowledgement.mode", "explicit",
                        "max.poll.records", "50",
                        "reconnect.backoff.max.ms", "200"),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
    }
}
