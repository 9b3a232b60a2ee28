package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups and transactions of the stock Java client on two whole brokers over bookies in memory. */
@Timeout(180)
final class CoordinatorsIT {

    private static final int RECORDS = 400;

    private TwoBrokers brokers;

    @BeforeEach
    void start() {
        brokers = new TwoBrokers();
    }

    @AfterEach
    void stop() {
        brokers.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void aGroupReadsEverythingOnceAndGoesOnWhenBrokersRestart(String protocol) throws Exception {
        brokers.create("t", 4);
        brokers.produce("t", RECORDS);
        Map<String, Object> config = consumerConfig("g", Map.of("group.protocol", protocol));
        List<String> read = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(config)) {
            consumer.subscribe(Set.of("t"));
            consumer.commitSync(readInto(read, consumer, RECORDS / 2));
            brokers.restartEachNode();
            consumer.commitSync(readInto(read, consumer, RECORDS));
        }
        assertThat(read).hasSize(RECORDS).doesNotHaveDuplicates();

        brokers.produce("t", 10);
        List<String> rest = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(config)) {
            consumer.subscribe(Set.of("t"));
            readInto(rest, consumer, 10);
        }
        assertThat(rest).hasSize(10);
        try (Admin admin = brokers.admin()) {
            ConsumerGroupDescription described = admin.describeConsumerGroups(List.of("g"))
                    .describedGroups()
                    .get("g")
                    .get();
            assertThat(described.groupId()).isEqualTo("g");
            assertThat(admin.listGroups().all().get())
                    .extracting(group -> group.groupId())
                    .contains("g");
        }
    }

    @Test
    void twoMembersShareThePartitions() throws Exception {
        brokers.create("t", 4);
        brokers.produce("t", RECORDS);
        Map<String, Object> config = consumerConfig("g", Map.of("group.protocol", "consumer"));
        try (KafkaConsumer<String, String> one = consumer(config);
                KafkaConsumer<String, String> two = consumer(config)) {
            one.subscribe(Set.of("t"));
            two.subscribe(Set.of("t"));
            List<String> read = new ArrayList<>();
            for (int polls = 0;
                    polls < 200
                            && (one.assignment().size() != 2 || two.assignment().size() != 2);
                    polls++) {
                one.poll(Duration.ofMillis(50)).forEach(record -> read.add(record.value()));
                two.poll(Duration.ofMillis(50)).forEach(record -> read.add(record.value()));
            }
            assertThat(one.assignment()).hasSize(2);
            assertThat(two.assignment()).hasSize(2);
        }
    }

    /** Read, transform, produce with the offsets in the transaction, while brokers restart: exactly once. */
    @Test
    void whatIsReadIsWrittenExactlyOnceWhileBrokersRestart() throws Exception {
        brokers.create("in", 2);
        brokers.create("out", 2);
        brokers.produce("in", RECORDS);
        int done = 0;
        boolean restarted = false;
        while (done < RECORDS) {
            try (KafkaProducer<String, String> producer = transactionalProducer();
                    KafkaConsumer<String, String> consumer =
                            consumer(consumerConfig("eos", Map.of("isolation.level", "read_committed")))) {
                producer.initTransactions();
                consumer.subscribe(Set.of("in"));
                while (done < RECORDS) {
                    done += transform(consumer, producer, done % 3 == 2);
                    if (done > RECORDS / 2 && !restarted) {
                        restarted = true;
                        brokers.restartEachNode();
                    }
                }
            } catch (KafkaException e) {
                // As an application would: begin again from what is committed.
                done = committedOf("eos", "in");
            }
        }
        List<String> out = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer =
                consumer(consumerConfig("check", Map.of("isolation.level", "read_committed")))) {
            consumer.subscribe(Set.of("out"));
            readInto(out, consumer, RECORDS);
            consumer.poll(Duration.ofMillis(500)).forEach(record -> out.add(record.value()));
        }
        assertThat(out).hasSize(RECORDS).doesNotHaveDuplicates();
    }

    private static int transform(
            KafkaConsumer<String, String> consumer, KafkaProducer<String, String> producer, boolean abortFirst) {
        ConsumerRecords<String, String> records = consumer.poll(Duration.ofMillis(500));
        if (records.isEmpty()) {
            return 0;
        }
        if (abortFirst) {
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("out", "aborted", "aborted"));
            producer.flush();
            producer.abortTransaction();
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        producer.beginTransaction();
        for (ConsumerRecord<String, String> record : records) {
            producer.send(new ProducerRecord<>("out", record.key(), record.value()));
            offsets.put(
                    new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        producer.commitTransaction();
        return records.count();
    }

    private int committedOf(String group, String topic) throws Exception {
        try (Admin admin = brokers.admin()) {
            return admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet().stream()
                    .filter(entry -> entry.getKey().topic().equals(topic) && entry.getValue() != null)
                    .mapToInt(entry -> (int) entry.getValue().offset())
                    .sum();
        }
    }

    private KafkaProducer<String, String> transactionalProducer() {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers.bootstrap(), "transactional.id", "tx"),
                new StringSerializer(),
                new StringSerializer());
    }

    private Map<String, Object> consumerConfig(String group, Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(more);
        config.put("bootstrap.servers", brokers.bootstrap());
        config.put("group.id", group);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        config.put("max.poll.records", "50");
        return config;
    }

    private static KafkaConsumer<String, String> consumer(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }

    /**
     * Reads on until so many were read.
     *
     * @return where it got to. Without being told, the client leaves out partitions whose position it is just validating after a change of owner
     */
    private static Map<TopicPartition, OffsetAndMetadata> readInto(
            List<String> read, KafkaConsumer<String, String> consumer, int until) {
        Map<TopicPartition, OffsetAndMetadata> positions = new HashMap<>();
        for (int polls = 0; read.size() < until && polls < 120; polls++) {
            for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(500))) {
                read.add(record.value());
                positions.put(
                        new TopicPartition(record.topic(), record.partition()),
                        new OffsetAndMetadata(record.offset() + 1));
            }
        }
        return positions;
    }
}
