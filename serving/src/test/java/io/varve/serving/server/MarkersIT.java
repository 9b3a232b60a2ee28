package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.admin.AbortTransactionSpec;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.ProducerState;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** C7 of the user reports, P16, T14: what takes offsets, where the last stable offset is, and what readers of committed records see. */
@Timeout(180)
final class MarkersIT {

    private static final String TOPIC = "t";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
    private static final int ROUNDS = 120;

    private TwoBrokers brokers;

    @BeforeEach
    void start() throws Exception {
        brokers = new TwoBrokers();
        brokers.create(TOPIC, 1);
    }

    @AfterEach
    void stop() {
        brokers.close();
    }

    /** C7.1 to C7.3. I-16 */
    @Test
    void recordsAndMarkersTakeOffsetsAndNothingElseEverDoes() throws Exception {
        try (KafkaProducer<String, String> producer = transactional("tx")) {
            producer.initTransactions();
            threeRecords(producer);
            producer.commitTransaction();
            assertThat(end("read_uncommitted")).isEqualTo(4);
            threeRecords(producer);
            producer.flush();
            producer.abortTransaction();
        }
        assertThat(end("read_uncommitted")).isEqualTo(8);
        assertThat(end("read_committed")).isEqualTo(8);

        brokers.restart(brokers.owner(TOPIC));
        try (Admin admin = brokers.admin()) {
            admin.incrementalAlterConfigs(Map.of(
                            new ConfigResource(ConfigResource.Type.TOPIC, TOPIC),
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("segment.bytes", "1048576"), AlterConfigOp.OpType.SET))))
                    .all()
                    .get();
        }
        brokers.restart(brokers.owner(TOPIC));
        assertThat(end("read_uncommitted")).isEqualTo(8);

        assertThat(readToEnd("read_uncommitted")).containsExactly(0L, 1L, 2L, 4L, 5L, 6L);
        assertThat(readToEnd("read_committed")).containsExactly(0L, 1L, 2L);
        brokers.produce(TOPIC, 1);
        assertThat(readToEnd("read_committed")).containsExactly(0L, 1L, 2L, 8L);
    }

    /** C7.3: who commits the position that it got to has no lag, though the last offset is a marker. */
    @Test
    void aGroupThatReadToAMarkerAtTheEndHasNoLag() throws Exception {
        try (KafkaProducer<String, String> producer = transactional("tx")) {
            producer.initTransactions();
            threeRecords(producer);
            producer.flush();
            producer.abortTransaction();
        }
        try (KafkaConsumer<String, String> consumer = consumer("read_committed", "g")) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            for (int polls = 0; consumer.position(PARTITION) < 4 && polls < 100; polls++) {
                assertThat(consumer.poll(Duration.ofMillis(200))).isEmpty();
            }
            consumer.commitSync();
        }
        try (Admin admin = brokers.admin()) {
            Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets("g")
                    .partitionsToOffsetAndMetadata()
                    .get();
            assertThat(committed.get(PARTITION).offset())
                    .isEqualTo(end("read_committed"))
                    .isEqualTo(4);
        }
    }

    /** C7.5, T20. */
    @Test
    void anOpenTransactionHoldsTheEndThatReadersOfCommittedRecordsAreTold() throws Exception {
        try (KafkaProducer<String, String> open = transactional("open");
                KafkaProducer<String, String> other = transactional("other")) {
            brokers.produce(TOPIC, 5);
            open.initTransactions();
            open.beginTransaction();
            open.send(new ProducerRecord<>(TOPIC, 0, null, "open")).get();
            other.initTransactions();
            threeRecords(other);
            other.commitTransaction();

            assertThat(end("read_committed")).isEqualTo(5);
            assertThat(end("read_uncommitted")).isEqualTo(10);
            brokers.restart(brokers.owner(TOPIC));
            assertThat(end("read_committed")).isEqualTo(5);
            assertThat(readToEnd("read_committed")).containsExactly(0L, 1L, 2L, 3L, 4L);

            open.commitTransaction();
            assertThat(end("read_committed")).isEqualTo(11);
        }
    }

    /** T15: what kafka-transactions does about a transaction that no coordinator will end. */
    @Test
    void aHangingTransactionIsAbortedByHand() throws Exception {
        try (KafkaProducer<String, String> open = transactional("open");
                Admin admin = brokers.admin()) {
            open.initTransactions();
            open.beginTransaction();
            open.send(new ProducerRecord<>(TOPIC, 0, null, "open")).get();
            assertThat(end("read_committed")).isZero();

            ProducerState hanging = admin.describeProducers(List.of(PARTITION))
                    .partitionResult(PARTITION)
                    .get()
                    .activeProducers()
                    .get(0);
            assertThat(hanging.currentTransactionStartOffset()).hasValue(0);
            admin.abortTransaction(new AbortTransactionSpec(
                            PARTITION,
                            hanging.producerId(),
                            (short) hanging.producerEpoch(),
                            hanging.coordinatorEpoch().orElse(0)))
                    .all()
                    .get();

            assertThat(end("read_committed")).isEqualTo(2);
            assertThat(readToEnd("read_committed")).isEmpty();
            open.abortTransaction();
            assertThat(admin.describeProducers(List.of(PARTITION))
                            .partitionResult(PARTITION)
                            .get()
                            .activeProducers())
                    .allSatisfy(producer ->
                            assertThat(producer.currentTransactionStartOffset()).isEmpty());
        }
    }

    /** C7.4, T14: many small transactions, aborted as soon as they were written, a reader that polls as hard as it can, and moves. */
    @Test
    void aReaderOfCommittedRecordsNeverSeesAnAbortedOne() throws Exception {
        AtomicBoolean written = new AtomicBoolean();
        CompletableFuture<List<String>> reading = CompletableFuture.supplyAsync(() -> readUntil(written));
        List<String> committed = new ArrayList<>();
        try (KafkaProducer<String, String> producer = transactional("tx")) {
            producer.initTransactions();
            for (int round = 0; round < ROUNDS; round++) {
                boolean commit = round % 4 == 3;
                String value = (commit ? "committed-" : "aborted-") + round;
                producer.beginTransaction();
                producer.send(new ProducerRecord<>(TOPIC, 0, null, value)).get(60, TimeUnit.SECONDS);
                if (round % (ROUNDS / 4) == ROUNDS / 8) {
                    brokers.restart(brokers.owner(TOPIC));
                }
                if (commit) {
                    producer.commitTransaction();
                    committed.add(value);
                } else {
                    producer.abortTransaction();
                }
            }
        }
        written.set(true);
        assertThat(reading.get(60, TimeUnit.SECONDS)).isEqualTo(committed);
    }

    /** T16: the index of what was aborted goes along, over many segments and to the next owner. */
    @Test
    void whatWasAbortedInManySegmentsIsKnownToTheNextOwner() throws Exception {
        try (Admin admin = brokers.admin()) {
            admin.createTopics(List.of(new NewTopic("rolled", 1, (short) 3).configs(Map.of("segment.bytes", "4096"))))
                    .all()
                    .get();
        }
        TopicPartition rolled = new TopicPartition("rolled", 0);
        List<String> committed = new ArrayList<>();
        try (KafkaProducer<String, String> producer = transactional("tx")) {
            producer.initTransactions();
            for (int round = 0; round < 300; round++) {
                boolean commit = round % 10 == 9;
                String value = (commit ? "committed-" : "aborted-") + round;
                producer.beginTransaction();
                producer.send(new ProducerRecord<>("rolled", 0, null, value)).get(60, TimeUnit.SECONDS);
                if (commit) {
                    producer.commitTransaction();
                    committed.add(value);
                } else {
                    producer.abortTransaction();
                }
            }
        }
        brokers.restart(brokers.owner("rolled"));
        List<String> read = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer("read_committed", "none")) {
            consumer.assign(List.of(rolled));
            consumer.seekToBeginning(List.of(rolled));
            for (int polls = 0; consumer.position(rolled) < 600; polls++) {
                assertThat(polls).as("polls until the end").isLessThan(200);
                consumer.poll(Duration.ofMillis(200)).forEach(record -> read.add(record.value()));
            }
        }
        assertThat(read).isEqualTo(committed);
    }

    /** C7.7: a log all of whose records were deleted. */
    @Test
    void aFetchAtTheEndOfALogThatWasEmptiedWaitsAndIsNoError() throws Exception {
        brokers.produce(TOPIC, 3);
        try (Admin admin = brokers.admin()) {
            admin.deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(3)))
                    .all()
                    .get();
        }
        for (String isolation : List.of("read_uncommitted", "read_committed")) {
            try (KafkaConsumer<String, String> consumer = consumer(isolation, "none")) {
                consumer.assign(List.of(PARTITION));
                consumer.seek(PARTITION, 3);
                assertThat(consumer.poll(Duration.ofMillis(700))).isEmpty();
                assertThat(consumer.beginningOffsets(List.of(PARTITION))).containsEntry(PARTITION, 3L);
                assertThat(consumer.position(PARTITION)).isEqualTo(3);
            }
        }
    }

    private static void threeRecords(KafkaProducer<String, String> producer) {
        producer.beginTransaction();
        for (int i = 0; i < 3; i++) {
            producer.send(new ProducerRecord<>(TOPIC, 0, null, "v" + i));
        }
    }

    private long end(String isolation) {
        try (KafkaConsumer<String, String> consumer = consumer(isolation, "none")) {
            return consumer.endOffsets(List.of(PARTITION)).get(PARTITION);
        }
    }

    /** The offsets of all records up to the end as it was when the reading began: the loop by which many programs read a topic. */
    private List<Long> readToEnd(String isolation) {
        List<Long> offsets = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(isolation, "none")) {
            consumer.assign(List.of(PARTITION));
            long end = consumer.endOffsets(List.of(PARTITION)).get(PARTITION);
            consumer.seekToBeginning(List.of(PARTITION));
            for (int polls = 0; consumer.position(PARTITION) < end; polls++) {
                assertThat(polls).as("polls until the end at " + end).isLessThan(200);
                consumer.poll(Duration.ofMillis(200)).forEach(record -> offsets.add(record.offset()));
            }
        }
        return offsets;
    }

    private List<String> readUntil(AtomicBoolean written) {
        List<String> values = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer("read_committed", "none")) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            for (int quietPolls = 0; !written.get() || quietPolls < 10; ) {
                int before = values.size();
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(100))) {
                    values.add(record.value());
                }
                quietPolls = values.size() == before ? quietPolls + 1 : 0;
            }
        }
        return values;
    }

    private KafkaProducer<String, String> transactional(String id) {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers.bootstrap(), "transactional.id", id),
                new StringSerializer(),
                new StringSerializer());
    }

    private KafkaConsumer<String, String> consumer(String isolation, String group) {
        return new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        brokers.bootstrap(),
                        "group.id",
                        group,
                        "isolation.level",
                        isolation,
                        "fetch.max.wait.ms",
                        "100",
                        "enable.auto.commit",
                        "false",
                        "auto.offset.reset",
                        "none"),
                new StringDeserializer(),
                new StringDeserializer());
    }
}
