package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.channel.socket.nio.NioSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.varve.bookie.client.InMemoryBookies;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.protocol.runtime.SystemClock;
import io.varve.serving.kafka.KafkaCoordinators;
import io.varve.serving.kafka.txn.TxnCoordinator;
import io.varve.sim.RecordingFaultHandler;
import io.varve.sim.ThreadTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ConsumerGroupDescription;
import org.apache.kafka.clients.admin.NewTopic;
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

    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final InMemoryMetadata cluster = new InMemoryMetadata(SystemClock.INSTANCE, 3).withBookies(3);
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final Map<Integer, ServingNode> nodes = new TreeMap<>();
    private ThreadTimers timers;
    private InMemoryBookies bookies;
    private EventLoopGroup loops;
    private long incarnations;

    @BeforeEach
    void start() {
        timers = new ThreadTimers("memory-bookies");
        bookies = new InMemoryBookies(timers);
        loops = new MultiThreadIoEventLoopGroup(
                1, new DefaultThreadFactory("broker-client", true), NioIoHandler.newFactory());
        for (int id = 1; id <= 3; id++) {
            bookies.add(id);
        }
        nodes.put(1, node(1, 0));
        nodes.put(2, node(2, 0));
    }

    @AfterEach
    void stop() throws Exception {
        nodes.values().forEach(ServingNode::close);
        for (AutoCloseable one : toClose) {
            one.close();
        }
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        timers.close();
        faults.assertNone();
    }

    @ParameterizedTest
    @ValueSource(strings = {"classic", "consumer"})
    void aGroupReadsEverythingOnceAndGoesOnWhenBrokersRestart(String protocol) throws Exception {
        create("t", 4);
        produce("t", RECORDS);
        Map<String, Object> config = consumerConfig("g", Map.of("group.protocol", protocol));
        List<String> read = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(config)) {
            consumer.subscribe(Set.of("t"));
            readInto(read, consumer, RECORDS / 2);
            consumer.commitSync();
            restartEachNode();
            readInto(read, consumer, RECORDS);
            consumer.commitSync();
        }
        assertThat(read).hasSize(RECORDS).doesNotHaveDuplicates();

        produce("t", 10);
        List<String> rest = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = consumer(config)) {
            consumer.subscribe(Set.of("t"));
            readInto(rest, consumer, 10);
        }
        assertThat(rest).hasSize(10);
        try (Admin admin = admin()) {
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
        create("t", 4);
        produce("t", RECORDS);
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
        create("in", 2);
        create("out", 2);
        produce("in", RECORDS);
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
                        restartEachNode();
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
        try (Admin admin = admin()) {
            return admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata().get().entrySet().stream()
                    .filter(entry -> entry.getKey().topic().equals(topic) && entry.getValue() != null)
                    .mapToInt(entry -> (int) entry.getValue().offset())
                    .sum();
        }
    }

    /** Restarts both brokers, one after the other. */
    private void restartEachNode() {
        for (int id = 1; id <= 2; id++) {
            ServingNode old = nodes.remove(id);
            int port = old.port("PLAINTEXT");
            old.close();
            assertThat(cluster.view().ownedBy(id)).isEmpty();
            nodes.put(id, node(id, port));
        }
    }

    private ServingNode node(int id, int port) {
        MetadataClient metadata = client();
        ServingConfig config = new ServingConfig(ServingConfig.schema()
                .check(
                        "test",
                        Map.of(
                                "node.id", Integer.toString(id),
                                "listeners", "PLAINTEXT://127.0.0.1:" + port,
                                "metadata.servers", "1@localhost:1",
                                "offsets.topic.num.partitions", "3",
                                "transaction.state.log.num.partitions", "3",
                                "group.initial.rebalance.delay.ms", "0",
                                "broker.drain.timeout.ms", "10000"),
                        Map.of(),
                        Map.of()));
        return ServingNode.start(
                config,
                new ServingParts(
                        ++incarnations,
                        metadata,
                        bookies.client("broker-" + id),
                        NoBucket.INSTANCE,
                        NoBucket.INSTANCE,
                        logs -> new KafkaCoordinators(
                                config.coordinators(),
                                metadata,
                                logs,
                                TxnCoordinator.brokerClient(metadata, loops, NioSocketChannel.class),
                                SystemClock.INSTANCE,
                                faults),
                        SystemClock.INSTANCE,
                        new SimpleMeterRegistry(),
                        faults));
    }

    private MetadataClient client() {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        MetadataClient client = cluster.newClient(thread);
        toClose.add(client);
        toClose.add(thread::shutdownNow);
        return client;
    }

    private String bootstrap() {
        return String.join(
                ",",
                nodes.values().stream()
                        .map(node -> "127.0.0.1:" + node.port("PLAINTEXT"))
                        .toList());
    }

    private Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrap()));
    }

    private void create(String topic, int partitions) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 3)))
                    .all()
                    .get();
        }
    }

    private void produce(String topic, int count) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap()), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                producer.send(new ProducerRecord<>(topic, "k" + i, "v" + i + "-" + System.nanoTime()));
            }
        }
    }

    private KafkaProducer<String, String> transactionalProducer() {
        return new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap(), "transactional.id", "tx"),
                new StringSerializer(),
                new StringSerializer());
    }

    private Map<String, Object> consumerConfig(String group, Map<String, Object> more) {
        Map<String, Object> config = new HashMap<>(more);
        config.put("bootstrap.servers", bootstrap());
        config.put("group.id", group);
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", "false");
        config.put("max.poll.records", "50");
        return config;
    }

    private static KafkaConsumer<String, String> consumer(Map<String, Object> config) {
        return new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer());
    }

    private static void readInto(List<String> read, KafkaConsumer<String, String> consumer, int until) {
        for (int polls = 0; read.size() < until && polls < 120; polls++) {
            consumer.poll(Duration.ofMillis(500)).forEach(record -> read.add(record.value()));
        }
    }
}
