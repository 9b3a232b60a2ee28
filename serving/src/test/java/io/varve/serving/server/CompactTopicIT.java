package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.InternalTopics;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.net.RawClient;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
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
 * C6 of the user reports, P15: topics with {@code cleanup.policy=compact}, as stock clients see them before, while and after their owners compact them, and as
 * those move.
 */
@Timeout(120)
final class CompactTopicIT {

    private static final String TOPIC = "t";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
    private static final int RECORDS = 10_000;
    private static final int KEYS = 100;
    /** Of the first partition of three. */
    private static final String GROUP = "i";
    /** Of ten partitions each, and more than a segment of the internal topic. */
    private static final int COMMITS = 350;

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private TwoBrokers brokers;

    @BeforeEach
    void start() throws Exception {
        brokers = new TwoBrokers();
        create(TOPIC, "compact");
    }

    private void create(String topic, String policy, String... more) throws Exception {
        Map<String, String> configs = new TreeMap<>(Map.of(
                "cleanup.policy", policy,
                "segment.bytes", "65536",
                "retention.ms", "1",
                "min.cleanable.dirty.ratio", "0.01"));
        for (int i = 0; i < more.length; i += 2) {
            configs.put(more[i], more[i + 1]);
        }
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

    /** C6.1 to C6.5, C6.7: each offset can be fetched from, offsets rise, and the newest of each key is there, tombstones too. */
    @Test
    void everyOffsetCanBeReadFromAndTheNewestOfEachKeyIsThereThroughMoves() throws Exception {
        write(TOPIC);
        Map<Long, String> before = records(TOPIC, 0);
        long end = offset(TOPIC, OffsetSpec.latest());
        assertThat(end).isEqualTo(RECORDS + KEYS / 2);
        for (int move = 0; move < 3; move++) {
            awaitCompacted(TOPIC);
            Map<Long, String> after = records(TOPIC, 0);
            assertThat(before).containsAllEntriesOf(after);
            assertThat(after.size()).as("records that are left").isLessThan(RECORDS / 2);
            assertThat(newest()).isEqualTo(live());
            for (long offset = 0; offset < end; offset += 97) {
                assertAnswered(offset, end);
            }
            brokers.restart(brokers.owner(TOPIC));
            write(TOPIC);
            before = records(TOPIC, 0);
            end = offset(TOPIC, OffsetSpec.latest());
        }
    }

    /** P15: clients of some libraries stand still on an answer that has no record at or after the offset that they asked for. */
    private void assertAnswered(long offset, long end) throws IOException {
        List<RecordBatch> batches = fetch(offset);
        long next = offset;
        for (RecordBatch batch : batches) {
            assertThat(batch.lastOffset()).isGreaterThanOrEqualTo(next);
            next = batch.nextOffset();
        }
        boolean hasRecord = batches.stream()
                .flatMap(batch -> StreamSupport.stream(batch.spliterator(), false))
                .anyMatch(record -> record.offset() >= offset);
        assertThat(hasRecord || next == end)
                .as("an answer with a record for %d", offset)
                .isTrue();
    }

    /**
     * A reader that is told of an aborted transaction drops what its producer wrote up to the marker. When a pass has taken that away, what the producer committed afterwards must
     * still be delivered.
     */
    @Test
    void whatWasCommittedIsReadAfterTheMarkersAreGone() throws Exception {
        create("txns", "compact", "delete.retention.ms", "0");
        Map<String, Object> configs = Map.of("bootstrap.servers", brokers.bootstrap(), "transactional.id", "t");
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(configs, new StringSerializer(), new StringSerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("txns", 0, "aborted", "1"));
            producer.flush();
            producer.abortTransaction();
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("txns", 0, "committed", "1"));
            producer.commitTransaction();
            for (int round = 0; round < 3; round++) {
                write("txns");
                awaitCompacted("txns");
                assertThat(committed("txns"))
                        .contains(Map.entry("committed", "1"))
                        .containsAllEntriesOf(live())
                        .doesNotContainKey("aborted");
            }
            assertThat(records("txns", 0)).as("nothing aborted is left").doesNotContainValue("aborted=1");
            producer.beginTransaction();
            producer.send(new ProducerRecord<>("txns", 0, "committed", "2"));
            producer.commitTransaction();
        }
        assertThat(committed("txns")).contains(Map.entry("committed", "2"));
    }

    /** The ratio is the topic's, and the one that was set last counts. */
    @Test
    void whetherToCompactCanBeChangedWhileTheTopicIsWrittenTo() throws Exception {
        create("ratio", "compact", "min.cleanable.dirty.ratio", "1.0");
        write("ratio");
        write(TOPIC);
        awaitCompacted(TOPIC);
        assertThat(isCompacted("ratio")).isFalse();
        ConfigResource topic = new ConfigResource(ConfigResource.Type.TOPIC, "ratio");
        try (Admin admin = brokers.admin()) {
            admin.incrementalAlterConfigs(Map.of(
                            topic,
                            List.of(new AlterConfigOp(
                                    new ConfigEntry("min.cleanable.dirty.ratio", "0.1"), AlterConfigOp.OpType.SET))))
                    .all()
                    .get();
            assertThat(admin.describeConfigs(List.of(topic))
                            .all()
                            .get()
                            .get(topic)
                            .get("min.cleanable.dirty.ratio")
                            .value())
                    .isEqualTo("0.1");
        }
        awaitCompacted("ratio");
    }

    /** S22: what a coordinator reads when it takes over is bounded, and what groups committed stays at its offsets. */
    @Test
    void whatGroupsCommittedIsCompactedWhereItIs() throws Exception {
        brokers.create("committed", 10);
        Map<TopicPartition, OffsetAndMetadata> last = new HashMap<>();
        Map<String, Object> configs =
                Map.of("bootstrap.servers", brokers.bootstrap(), "group.id", GROUP, "enable.auto.commit", "false");
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(configs, new StringDeserializer(), new StringDeserializer())) {
            for (int round = 0; round < COMMITS; round++) {
                for (int partition = 0; partition < 10; partition++) {
                    last.put(
                            new TopicPartition("committed", partition),
                            new OffsetAndMetadata(round, "m".repeat(4_000)));
                }
                consumer.commitSync(last);
            }
        }
        awaitCompacted(InternalTopics.CONSUMER_OFFSETS);
        assertThat(offset(InternalTopics.CONSUMER_OFFSETS, OffsetSpec.latest())).isGreaterThanOrEqualTo(COMMITS * 10);
        assertThat(offset(InternalTopics.CONSUMER_OFFSETS, OffsetSpec.earliest()))
                .isZero();
        assertThat(records(InternalTopics.CONSUMER_OFFSETS, 0).size()).isLessThan(COMMITS * 10 / 2);
        brokers.restart(brokers.owner(InternalTopics.CONSUMER_OFFSETS));
        try (Admin admin = brokers.admin()) {
            assertThat(admin.listConsumerGroupOffsets(GROUP)
                            .partitionsToOffsetAndMetadata()
                            .get())
                    .isEqualTo(last);
        }
    }

    /** Until a pass has been through all that was sealed by now. */
    private void awaitCompacted(String topic) {
        long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
        while (!isCompacted(topic)) {
            assertThat(System.nanoTime())
                    .as("a compaction of %s in time", topic)
                    .isLessThan(deadlineNs);
            LockSupport.parkNanos(20_000_000);
        }
    }

    private boolean isCompacted(String topic) {
        MetadataView view = brokers.cluster.view();
        PartitionState partition =
                view.partitions(view.topic(topic).orElseThrow().id()).iterator().next();
        List<SegmentDescriptor> sealed = partition.chain().segments().stream()
                .filter(segment -> segment.state() == SegmentDescriptor.State.SEALED && !segment.isEmpty())
                .toList();
        return !sealed.isEmpty() && sealed.stream().allMatch(SegmentDescriptor::isCompacted);
    }

    /** What a reader of everything gets: by offset, as {@code key=value}. */
    private Map<Long, String> records(String topic, long fromOffset) throws Exception {
        Map<Long, String> records = new TreeMap<>();
        read(topic, fromOffset, Map.of(), record -> records.put(record.offset(), record.key() + "=" + record.value()));
        return records;
    }

    private Map<String, String> committed(String topic) throws Exception {
        return table(topic, Map.of("isolation.level", "read_committed"));
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
        return table(TOPIC, Map.of());
    }

    private Map<String, String> table(String topic, Map<String, String> configs) throws Exception {
        Map<String, String> newest = new TreeMap<>();
        read(topic, 0, configs, record -> {
            if (record.value() == null) {
                newest.remove(record.key());
            } else {
                newest.put(record.key(), record.value());
            }
        });
        return newest;
    }

    private void read(
            String topic, long fromOffset, Map<String, String> more, Consumer<ConsumerRecord<String, String>> each)
            throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        long end = offset(topic, OffsetSpec.latest());
        Map<String, Object> configs =
                new TreeMap<>(Map.of("bootstrap.servers", brokers.bootstrap(), "enable.auto.commit", "false"));
        configs.putAll(more);
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(configs, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, fromOffset);
            long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
            while (consumer.position(partition) < end) {
                assertThat(System.nanoTime()).as("the end in time").isLessThan(deadlineNs);
                consumer.poll(Duration.ofMillis(500)).forEach(each);
            }
        }
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
}
