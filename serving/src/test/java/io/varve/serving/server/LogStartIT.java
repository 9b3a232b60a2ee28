package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.serving.net.RawClient;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.OffsetOutOfRangeException;
import org.apache.kafka.common.message.DeleteRecordsRequestData;
import org.apache.kafka.common.message.DeleteRecordsRequestData.DeleteRecordsPartition;
import org.apache.kafka.common.message.DeleteRecordsRequestData.DeleteRecordsTopic;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.DeleteRecordsRequest;
import org.apache.kafka.common.requests.DeleteRecordsResponse;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** C4.5, P29 and P30 of the user reports: a log's start moves up, by itself or on request, and nothing else does. */
@Timeout(120)
final class LogStartIT {

    private static final TopicPartition PARTITION = new TopicPartition("t", 0);

    private TwoBrokers brokers;
    private Admin admin;
    private KafkaConsumer<String, String> reader;

    @BeforeEach
    void start() {
        brokers = new TwoBrokers();
        admin = brokers.admin();
        reader = consumer("none");
        reader.assign(List.of(PARTITION));
    }

    @AfterEach
    void stop() {
        reader.close();
        admin.close();
        brokers.close();
    }

    /** P30: what is below the start is a success that changes nothing, and the start never goes back, whatever restarts. */
    @Test
    void recordsAreDeletedUpToAnyOffsetAndStayDeleted() throws Exception {
        brokers.create("t", 1);
        for (int batch = 0; batch < 10; batch++) {
            write("t", batch * 10, 10);
        }
        assertThat(delete(0)).isZero();
        assertThat(delete(5)).as("in the middle of a batch").isEqualTo(5);
        assertThat(delete(3)).as("below the start").isEqualTo(5);
        assertThat(delete(5)).as("the start").isEqualTo(5);
        assertThatThrownBy(() -> delete(101)).hasCauseInstanceOf(OffsetOutOfRangeException.class);
        assertThat(firstRead()).isEqualTo(5);

        brokers.restartEachNode();
        assertThat(earliest()).isEqualTo(5);
        assertThat(firstRead()).isEqualTo(5);
        assertThat(delete(50)).isEqualTo(50);
        assertThat(delete(-1)).as("all there is").isEqualTo(100);

        brokers.restart(brokers.owner("t"));
        assertThat(earliest()).isEqualTo(100);
        write("t", 100, 1);
        assertThat(firstRead()).isEqualTo(100);
        assertThat(deleteOfNothing()).isEqualTo(Errors.UNKNOWN_TOPIC_OR_PARTITION);
    }

    /** By hand: an admin client looks for the topic first, and goes on doing so. */
    private Errors deleteOfNothing() throws IOException {
        DeleteRecordsRequestData data = new DeleteRecordsRequestData()
                .setTimeoutMs(10_000)
                .setTopics(List.of(new DeleteRecordsTopic()
                        .setName("nowhere")
                        .setPartitions(List.of(new DeleteRecordsPartition()
                                .setPartitionIndex(0)
                                .setOffset(1)))));
        try (RawClient client = new RawClient(brokers.port(1))) {
            DeleteRecordsResponse answer = client.call(new DeleteRecordsRequest.Builder(data).build((short) 2));
            return Errors.forCode(
                    answer.data().topics().find("nowhere").partitions().find(0).errorCode());
        }
    }

    /** C4.5: the start that is told is that of the first record that can be read, however it moves. */
    @Test
    void theEarliestOffsetIsThatOfTheFirstRecordThatCanBeRead() throws Exception {
        brokers.create("t", 1);
        write("t", 0, 200);
        for (int i = 1; i <= 50; i++) {
            assertThat(delete(i * 3L)).isEqualTo(i * 3L);
            assertThat(earliest()).isEqualTo(i * 3L);
            assertThat(firstRead()).isEqualTo(i * 3L);
        }
    }

    /** P29: one topic's records go as fast as they come, and the other's reader, on the same connection, doesn't notice. */
    @Test
    void offsetsAreNeverRenumberedAndTroubleStaysInItsPartition() throws Exception {
        admin.createTopics(List.of(
                        new NewTopic("t", 1, (short) 3).configs(Map.of("retention.ms", "1", "segment.bytes", "8192")),
                        new NewTopic("healthy", 1, (short) 3)))
                .all()
                .get();
        List<String> healthy = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer("earliest")) {
            consumer.assign(List.of(PARTITION, new TopicPartition("healthy", 0)));
            for (int burst = 0; burst < 5; burst++) {
                write("t", burst * 1_500, 1_500);
                write("healthy", burst * 100, 100);
                long before = earliest();
                for (int looks = 0; earliest() == before; looks++) {
                    assertThat(looks).as("looks of the planner").isLessThan(200);
                    brokers.cluster.plan();
                }
                for (int polls = 0; healthy.size() < (burst + 1) * 100 && polls < 100; polls++) {
                    for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                        assertThat(record.value()).isEqualTo("v" + record.offset());
                        if (record.topic().equals("healthy")) {
                            healthy.add(record.value());
                        }
                    }
                }
            }
        }
        assertThat(healthy).hasSize(500).doesNotHaveDuplicates();
    }

    /** Answers the log's start after it. */
    private long delete(long before) throws Exception {
        return admin.deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(before)))
                .lowWatermarks()
                .get(PARTITION)
                .get()
                .lowWatermark();
    }

    private long earliest() throws Exception {
        return admin.listOffsets(Map.of(PARTITION, OffsetSpec.earliest()))
                .all()
                .get()
                .get(PARTITION)
                .offset();
    }

    private long firstRead() {
        reader.seekToBeginning(List.of(PARTITION));
        return reader.poll(Duration.ofSeconds(10)).iterator().next().offset();
    }

    /** Whoever seeks waits for the answer to the fetch before: it comes soon. */
    private KafkaConsumer<String, String> consumer(String reset) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        brokers.bootstrap(),
                        "auto.offset.reset",
                        reset,
                        "enable.auto.commit",
                        "false",
                        "fetch.max.wait.ms",
                        "20"),
                new StringDeserializer(),
                new StringDeserializer());
    }

    /** Each record's value is its number, and its number its offset. */
    private void write(String topic, int first, int count) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers.bootstrap(), "linger.ms", "20"),
                new StringSerializer(),
                new StringSerializer())) {
            for (int i = first; i < first + count; i++) {
                producer.send(new ProducerRecord<>(topic, 0, null, "v" + i));
            }
        }
    }
}
