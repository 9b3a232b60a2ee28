package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.tiering.testing.PlainS3Server;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** C4.4 and C13.5 of the user reports: offsets are looked up by time in a store that takes five seconds for each answer, and those who read and write elsewhere don't notice. */
class SlowLookupsIT {

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int SEGMENTS = 5;
    private static final int LOOKUPS = 50;
    private static final int ROUNDS = 40;
    private static final TopicPartition COLD = new TopicPartition("cold", 0);
    private static final TopicPartition COLDER = new TopicPartition("colder", 0);
    private static final TopicPartition WARM = new TopicPartition("warm", 0);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void whoeverWaitsForTheStoreHoldsUpNobodyElse() throws Exception {
        try (PlainS3Server store = new PlainS3Server(true)) {
            ProcessCluster cluster = clusters.start(shape(store));
            for (TopicPartition cold : List.of(COLD, COLDER)) {
                cluster.createTopic(
                        cold.topic(), 1, Map.of("segment.ms", "300", "local.retention.ms", "1", "retention.ms", "-1"));
            }
            cluster.createTopic(WARM.topic(), 1, Map.of());
            try (KafkaProducer<String, String> producer = producer(cluster);
                    Admin admin = cluster.admin()) {
                write(producer, admin, COLD, SEGMENTS);
                write(producer, admin, COLDER, 2);
            }
            // The next process has read nothing of the bucket yet.
            cluster.broker(1).terminate();
            assertThat(cluster.broker(1).awaitExit(PATIENCE)).hasValue(0);
            ProcessCluster.awaitReady(cluster.launchBroker(1));
            try (KafkaProducer<String, String> producer = producer(cluster);
                    KafkaConsumer<String, String> consumer = consumer(cluster);
                    Admin admin = cluster.admin()) {
                consumer.assign(List.of(WARM));
                consumer.seekToBeginning(List.of(WARM));
                round(producer, consumer);

                store.pace(5_000, 0);
                List<ListOffsetsResult> lookups = new ArrayList<>();
                for (int i = 0; i < LOOKUPS; i++) {
                    lookups.add(admin.listOffsets(Map.of(COLD, OffsetSpec.forTimestamp(10L * (i % SEGMENTS)))));
                }
                for (int round = 0; round < ROUNDS; round++) {
                    round(producer, consumer);
                }
                assertThat(lookups)
                        .as("still wait for the store, after " + ROUNDS + " records went through")
                        .noneMatch(lookup -> lookup.all().isDone());
                for (int i = 0; i < LOOKUPS; i++) {
                    long found = lookups.get(i)
                            .all()
                            .get(PATIENCE.toSeconds(), TimeUnit.SECONDS)
                            .get(COLD)
                            .offset();
                    assertThat(found).isEqualTo(i % SEGMENTS);
                }
                // C13.5, S13: each answer takes longer than a fetch waits; nobody is told that there is nothing there,
                // or that it is out of range.
                consumer.assign(List.of(COLDER));
                consumer.seek(COLDER, 0);
                List<Long> read = new ArrayList<>();
                Await.until("both records that are in the store", PATIENCE, read::toString, () -> {
                    consumer.poll(Duration.ofSeconds(1)).forEach(record -> read.add(record.offset()));
                    return read.size() >= 2;
                });
                assertThat(read).containsExactly(0L, 1L);
            }
        }
    }

    /** So many segments of one record each, in object storage alone. */
    private static void write(KafkaProducer<String, String> producer, Admin admin, TopicPartition to, int segments)
            throws Exception {
        for (int i = 0; i < segments; i++) {
            producer.send(new ProducerRecord<>(to.topic(), 0, 10L * i, "k", "v"))
                    .get();
            int written = i + 1;
            Await.until(
                    written + " segments in object storage alone",
                    PATIENCE,
                    () -> "first local offset " + firstLocal(admin, to),
                    () -> firstLocal(admin, to) == written);
        }
    }

    /** One record there and back. */
    private static void round(KafkaProducer<String, String> producer, KafkaConsumer<String, String> consumer)
            throws Exception {
        producer.send(new ProducerRecord<>(WARM.topic(), 0, "k", "v")).get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        Await.until(
                "the record",
                PATIENCE,
                () -> !consumer.poll(Duration.ofSeconds(1)).isEmpty());
    }

    private static long firstLocal(Admin admin, TopicPartition of) {
        try {
            return admin.listOffsets(Map.of(of, OffsetSpec.earliestLocal()))
                    .all()
                    .get(60, TimeUnit.SECONDS)
                    .get(of)
                    .offset();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static ClusterShape shape(PlainS3Server store) {
        return ClusterShape.of(1, 3, 1)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "100")
                .withStore(store.config());
    }

    private static KafkaProducer<String, String> producer(ProcessCluster cluster) {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrap()), new StringSerializer(), new StringSerializer());
    }

    private static KafkaConsumer<String, String> consumer(ProcessCluster cluster) {
        return new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrap(), "auto.offset.reset", "none"),
                new StringDeserializer(),
                new StringDeserializer());
    }
}
