package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.serving.net.RawClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.PolicyViolationException;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * C6 of the user reports, P15: what holds of a topic with {@code cleanup.policy=compact}. Its records are all kept, which its readers can't tell from a
 * compaction that hasn't come by yet; so there are no holes in it that a client could get stuck in.
 */
@Timeout(120)
final class CompactTopicIT {

    private static final String TOPIC = "t";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
    private static final int RECORDS = 10_000;
    private static final int KEYS = 100;

    private TwoBrokers brokers;

    @BeforeEach
    void start() throws Exception {
        brokers = new TwoBrokers();
        create(TOPIC, "compact");
    }

    private void create(String topic, String policy) throws Exception {
        Map<String, String> configs = Map.of("cleanup.policy", policy, "segment.bytes", "65536", "retention.ms", "1");
        try (Admin admin = brokers.admin()) {
            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 3).configs(configs)))
                    .all()
                    .get();
        }
    }

    @AfterEach
    void stop() {
        brokers.close();
    }

    /** C6.1 to C6.5, C6.7: each offset can be fetched from, batches rise, and the newest of each key is there, tombstones too. */
    @Test
    void everyOffsetCanBeReadFromAndTheNewestOfEachKeyIsThereThroughMoves() throws Exception {
        write(TOPIC);
        List<RecordBatch> batches = new ArrayList<>();
        for (int move = 0; move < 3; move++) {
            batches.clear();
            for (long next = 0;
                    next < RECORDS + KEYS / 2;
                    next = batches.get(batches.size() - 1).nextOffset()) {
                batches.add(fetch(next).get(0));
            }
            for (int i = 1; i < batches.size(); i++) {
                assertThat(batches.get(i).baseOffset())
                        .isEqualTo(batches.get(i - 1).nextOffset());
            }
            for (long offset = 0; offset < RECORDS; offset += 97) {
                RecordBatch first = fetch(offset).get(0);
                assertThat(offset).isBetween(first.baseOffset(), first.lastOffset());
            }
            assertThat(newest()).isEqualTo(live());
            brokers.restart(brokers.owner(TOPIC));
        }
    }

    /** Retention has no say where {@code cleanup.policy} doesn't name delete; the topic beside it shows that it would have had one. */
    @Test
    void ageDeletesNothing() throws Exception {
        create("deleted", "delete");
        write("deleted");
        write(TOPIC);
        for (int tries = 0; offset("deleted", OffsetSpec.earliest()) == 0; tries++) {
            assertThat(tries).as("looks of the planner").isLessThan(100);
            brokers.cluster.plan();
        }
        assertThat(offset(TOPIC, OffsetSpec.earliest())).isZero();
    }

    /** As by Kafka. */
    @Test
    void whatIsToBeCompactedIsNotDeletedByOffset() throws Exception {
        write(TOPIC);
        try (Admin admin = brokers.admin()) {
            assertThat(admin.deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(3)))
                            .all()
                            .toCompletionStage()
                            .toCompletableFuture())
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(PolicyViolationException.class);
        }
    }

    @Test
    void aRecordWithoutAKeyIsRefused() {
        try (KafkaProducer<String, String> producer = producer()) {
            Future<RecordMetadata> refused = producer.send(new ProducerRecord<>(TOPIC, 0, null, "v"));
            assertThat(refused)
                    .failsWithin(Duration.ofSeconds(30))
                    .withThrowableOfType(ExecutionException.class)
                    .withCauseInstanceOf(InvalidRecordException.class);
        }
    }

    private void write(String topic) {
        try (KafkaProducer<String, String> producer = producer()) {
            for (int i = 0; i < RECORDS; i++) {
                producer.send(new ProducerRecord<>(topic, 0, "k" + i % KEYS, i % 7 == 0 ? "" : "v" + i));
            }
            for (int key = 0; key < KEYS / 2; key++) {
                producer.send(new ProducerRecord<>(topic, 0, "k" + key, null));
            }
        }
    }

    /** Keys whose newest record is a tombstone are gone; an empty value is a value. */
    private static Map<String, String> live() {
        Map<String, String> live = new TreeMap<>();
        for (int i = RECORDS - KEYS; i < RECORDS; i++) {
            if (i % KEYS >= KEYS / 2) {
                live.put("k" + i % KEYS, i % 7 == 0 ? "" : "v" + i);
            }
        }
        return live;
    }

    private Map<String, String> newest() throws Exception {
        Map<String, String> newest = new TreeMap<>();
        long end = offset(TOPIC, OffsetSpec.latest());
        try (KafkaConsumer<String, String> consumer = consumer()) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            while (consumer.position(PARTITION) < end) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                    if (record.value() == null) {
                        newest.remove(record.key());
                    } else {
                        newest.put(record.key(), record.value());
                    }
                }
            }
        }
        return newest;
    }

    private long offset(String topic, OffsetSpec spec) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Admin admin = brokers.admin()) {
            return admin.listOffsets(Map.of(partition, spec))
                    .all()
                    .get()
                    .get(partition)
                    .offset();
        }
    }

    private List<RecordBatch> fetch(long offset) throws IOException {
        FetchRequestData data = new FetchRequestData()
                .setReplicaId(-1)
                .setMaxWaitMs(5_000)
                .setMinBytes(1)
                .setMaxBytes(1 << 20)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequestData.FetchTopic()
                        .setTopic(TOPIC)
                        .setPartitions(List.of(new FetchRequestData.FetchPartition()
                                .setPartition(0)
                                .setFetchOffset(offset)
                                .setPartitionMaxBytes(1)))));
        try (RawClient client = new RawClient(brokers.port(brokers.owner(TOPIC)))) {
            FetchResponse answer = client.call(new FetchRequest(data, (short) 11));
            Iterable<? extends RecordBatch> batches = FetchResponse.recordsOrFail(
                            answer.data().responses().get(0).partitions().get(0))
                    .batches();
            return StreamSupport.stream(batches.spliterator(), false)
                    .map(batch -> (RecordBatch) batch)
                    .toList();
        }
    }

    private KafkaProducer<String, String> producer() {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers.bootstrap(), "batch.size", "2000", "linger.ms", "5"),
                new StringSerializer(),
                new StringSerializer());
    }

    private KafkaConsumer<String, String> consumer() {
        return new KafkaConsumer<>(
                Map.of("bootstrap.servers", brokers.bootstrap(), "enable.auto.commit", "false"),
                new StringDeserializer(),
                new StringDeserializer());
    }
}
