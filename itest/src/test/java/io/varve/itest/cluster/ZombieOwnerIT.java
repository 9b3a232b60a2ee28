package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** I-14: an owner that was paused until another one took over can't acknowledge anything when it wakes up. */
class ZombieOwnerIT {

    private static final String TOPIC = "zombie";
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void whatAPausedOwnerWasSentIsNotAcknowledgedByItAfterItWakes() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 2));
        cluster.createTopic(TOPIC, 1, Map.of());
        AckLog acks = new AckLog(1);
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(1, 1_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
        int owner = cluster.ownerOf(TOPIC, 0);

        // A producer that knows the paused owner alone, and sends it something while it stands still.
        AtomicReference<Exception> refusal = new AtomicReference<>();
        try (KafkaProducer<byte[], byte[]> toZombie = new KafkaProducer<>(
                config(cluster.layout().bootstrap(owner)), new ByteArraySerializer(), new ByteArraySerializer())) {
            toZombie.partitionsFor(TOPIC);
            cluster.broker(owner).pause();
            var sent = toZombie.send(
                    new ProducerRecord<>(TOPIC, 0, null, new byte[100]), (metadata, failure) -> refusal.set(failure));
            int other = 3 - owner;
            try (NumberedProducer producer =
                    new NumberedProducer(cluster.layout().bootstrap(other), TOPIC, 100, acks, PATIENCE)) {
                producer.start(2_001, 1_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(producer.failure()).isNull();
            }
            cluster.broker(owner).resume();
            Await.until("an answer to what was sent to the paused owner", PATIENCE, sent::isDone);
        }

        assertThat(refusal.get()).as("what the paused owner was sent").isNotNull();
        ReadBack.of(cluster.bootstrap(), TOPIC, 1, PATIENCE).isExactly(acks).hasNoDuplicatesAndKeepsOrder(10_000);
    }

    /** Once only: what the zombie doesn't acknowledge must fail, not go to the new owner. */
    private static Map<String, Object> config(String bootstrap) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("acks", "all");
        config.put("retries", 0);
        config.put("enable.idempotence", false);
        config.put("linger.ms", 0);
        config.put("request.timeout.ms", 60_000);
        config.put("delivery.timeout.ms", 60_000);
        return config;
    }
}
