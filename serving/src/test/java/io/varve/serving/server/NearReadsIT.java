package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** KIP-392: two brokers in two racks, one partition, and consumers of either rack. */
@Timeout(180)
final class NearReadsIT {

    private static final TopicPartition PARTITION = new TopicPartition("t", 0);
    private static final int RECORDS = 4_000;
    private static final int RECORD_BYTES = 1_000;

    private TwoBrokers brokers;

    @BeforeEach
    void start() throws Exception {
        brokers = new TwoBrokers();
        try (Admin admin = brokers.admin()) {
            admin.createTopics(List.of(new NewTopic("t", 1, (short) 3).configs(Map.of("segment.bytes", "1048576"))))
                    .all()
                    .get();
        }
    }

    @AfterEach
    void stop() {
        brokers.close();
    }

    @ParameterizedTest
    @CsvSource({"read_uncommitted", "read_committed"})
    void aConsumerReadsWhatIsSealedInItsOwnRackAndTheRestAtTheOwner(String isolation) throws Exception {
        produce(RECORDS);
        int owner = state().owner();
        int near = owner == 1 ? 2 : 1;
        double before = bytesOut(near);

        List<Long> read = read("r" + near, isolation, RECORDS);

        assertThat(read).hasSize(RECORDS).isSorted().doesNotHaveDuplicates();
        assertThat(bytesOut(near) - before)
                .as("what is sealed was read near by")
                .isGreaterThan(sealedRecords() * RECORD_BYTES * 0.8);
    }

    @Test
    void aConsumerOfTheOwnersRackOrOfNoneIsServedByTheOwner() throws Exception {
        produce(RECORDS);
        int owner = state().owner();
        int other = owner == 1 ? 2 : 1;
        double before = bytesOut(other);
        assertThat(read("r" + owner, "read_uncommitted", RECORDS)).hasSize(RECORDS);
        assertThat(read("", "read_uncommitted", RECORDS)).hasSize(RECORDS);
        assertThat(bytesOut(other) - before).as("metadata, and no records").isLessThan(RECORDS * RECORD_BYTES / 10.0);
    }

    /** A transaction that is open across a seal: near by it stays open, at the owner it is not; the reader must get on all the same. */
    @Test
    void aReaderOfCommittedRecordsPassesATransactionThatWasOpenAtTheSeal() throws Exception {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers.bootstrap(), "transactional.id", "tx"),
                new StringSerializer(),
                new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 0; i < RECORDS / 2; i++) {
                producer.send(new ProducerRecord<>("t", 0, null, "x".repeat(RECORD_BYTES)));
            }
            producer.commitTransaction();
            producer.beginTransaction();
            for (int i = 0; i < RECORDS / 2; i++) {
                producer.send(new ProducerRecord<>("t", 0, null, "aborted".repeat(RECORD_BYTES / 7)));
            }
            producer.abortTransaction();
        }
        produce(RECORDS);
        int near = state().owner() == 1 ? 2 : 1;
        assertThat(read("r" + near, "read_committed", RECORDS * 3 / 2))
                .hasSize(RECORDS * 3 / 2)
                .isSorted()
                .doesNotHaveDuplicates();
    }

    /** P41: the broker near by goes away in the middle. */
    @Test
    void aReaderWhoseBrokerGoesAwayGoesOnAtTheOwner() {
        produce(RECORDS);
        int near = state().owner() == 1 ? 2 : 1;
        List<Long> read = new ArrayList<>();
        read("r" + near, "read_uncommitted", RECORDS, read, () -> brokers.restart(near));
        assertThat(read).hasSize(RECORDS).isSorted().doesNotHaveDuplicates();
    }

    private void produce(int count) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers.bootstrap()), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                producer.send(new ProducerRecord<>("t", 0, null, "y".repeat(RECORD_BYTES)));
            }
        }
    }

    private List<Long> read(String rack, String isolation, int count) {
        List<Long> offsets = new ArrayList<>();
        read(rack, isolation, count, offsets, () -> {});
        return offsets;
    }

    /** @param inTheMiddle done once, when a fifth was read */
    private void read(String rack, String isolation, int count, List<Long> offsets, Runnable inTheMiddle) {
        boolean done = false;
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        brokers.bootstrap(),
                        "client.rack",
                        rack,
                        "isolation.level",
                        isolation,
                        "max.partition.fetch.bytes",
                        "65536",
                        "enable.auto.commit",
                        "false"),
                new StringDeserializer(),
                new StringDeserializer())) {
            consumer.assign(List.of(PARTITION));
            consumer.seekToBeginning(List.of(PARTITION));
            for (int polls = 0; offsets.size() < count && polls < 400; polls++) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    assertThat(record.value()).doesNotContain("aborted");
                    offsets.add(record.offset());
                }
                if (!done && offsets.size() > count / 5) {
                    done = true;
                    inTheMiddle.run();
                }
            }
        }
    }

    private long sealedRecords() {
        return state().chain().segments().stream()
                .filter(segment -> segment.state() == SegmentDescriptor.State.SEALED)
                .mapToLong(segment -> segment.endOffset() - segment.startOffset())
                .sum();
    }

    private PartitionState state() {
        var view = brokers.cluster.view();
        return view.partitions(view.topic("t").orElseThrow().id()).iterator().next();
    }

    private double bytesOut(int broker) {
        SimpleMeterRegistry meters = brokers.meters(broker);
        return meters.get("varve.broker.out.bytes").counter().count();
    }
}
