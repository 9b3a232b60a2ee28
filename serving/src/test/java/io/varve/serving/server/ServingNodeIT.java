package io.varve.serving.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.channel.socket.SocketChannel;
import io.varve.base.StartupException;
import io.varve.bookie.client.InMemoryBookies;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.runtime.SystemClock;
import io.varve.serving.kafka.KafkaCoordinators;
import io.varve.serving.kafka.runtime.CoordinatorOptions;
import io.varve.serving.kafka.runtime.NettyBrokerClient;
import io.varve.sim.RecordingFaultHandler;
import io.varve.sim.ThreadTimers;
import io.varve.tiering.testing.NoBucket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whole brokers (real sockets, real partition owners, the real metadata state machine) over bookies in memory, with the stock Java client. */
@Timeout(120)
final class ServingNodeIT {

    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final InMemoryMetadata cluster = new InMemoryMetadata(SystemClock.INSTANCE, 3).withBookies(3);
    private final List<AutoCloseable> toClose = new ArrayList<>();
    private final RpcLoops loops = RpcLoops.start("test-rpc", 1);
    private ThreadTimers timers;
    private InMemoryBookies bookies;
    private ServingNode first;
    private ServingNode second;

    @BeforeEach
    void start() {
        timers = new ThreadTimers("memory-bookies");
        bookies = new InMemoryBookies(timers);
        for (int id = 1; id <= 3; id++) {
            bookies.add(id);
        }
        first = node(1);
        second = node(2);
    }

    @AfterEach
    void stop() throws Exception {
        first.close();
        second.close();
        for (AutoCloseable one : toClose) {
            one.close();
        }
        timers.close();
        loops.close();
        faults.assertNone();
    }

    @Test
    void recordsGoToBookiesAndComeBackFromBothBrokers() throws Exception {
        create("t", 8);
        List<Future<RecordMetadata>> sent = produce("t", 8, 0, 4_000);
        for (int i = 0; i < sent.size(); i++) {
            assertThat(sent.get(i).get(30, TimeUnit.SECONDS).offset()).isEqualTo(i / 8);
        }
        assertThat(owners("t")).containsOnly(1, 2);
        assertThat(read("t", 8, 4_000)).hasSize(4_000);
    }

    /** P31 of the user reports: created through one broker, at once usable through another, without a retry. */
    @Test
    void aTopicMadeThroughOneBrokerIsUsableThroughTheOtherAtOnce() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap(first)));
                KafkaProducer<String, String> producer =
                        producer(bootstrap(second), Map.of("retries", "0", "enable.idempotence", "false"))) {
            for (int i = 0; i < 50; i++) {
                admin.createTopics(List.of(new NewTopic("fresh-" + i, 4, (short) 3)))
                        .all()
                        .get();
                for (int partition = 0; partition < 4; partition++) {
                    assertThat(producer.send(new ProducerRecord<>("fresh-" + i, partition, "k", "v"))
                                    .get(30, TimeUnit.SECONDS)
                                    .offset())
                            .isZero();
                }
            }
        }
    }

    @Test
    void aBrokerThatStopsHandsItsPartitionsOverAndNothingIsLostOrDoubled() throws Exception {
        create("t", 8);
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<String, String> producer = producer(bootstrap(first) + "," + bootstrap(second), Map.of())) {
            for (int i = 0; i < 2_000; i++) {
                sent.add(producer.send(new ProducerRecord<>("t", i % 8, null, "v" + i)));
                if (i == 1_000) {
                    first.close();
                }
            }
            producer.flush();
        }
        for (Future<RecordMetadata> one : sent) {
            one.get(30, TimeUnit.SECONDS);
        }
        assertThat(owners("t")).containsOnly(2);
        List<String> values =
                read("t", 8, 2_000).stream().map(ConsumerRecord::value).sorted().toList();
        List<String> expected = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            expected.add("v" + i);
        }
        assertThat(values).containsExactlyInAnyOrderElementsOf(expected);
    }

    @Test
    void aGroupReadsCommitsAndGoesOnWhereItWas() throws Exception {
        create("t", 4);
        for (Future<RecordMetadata> one : produce("t", 4, 0, 200)) {
            one.get(30, TimeUnit.SECONDS);
        }
        assertThat(consume("g", 200)).hasSize(200);
        for (Future<RecordMetadata> one : produce("t", 4, 200, 100)) {
            one.get(30, TimeUnit.SECONDS);
        }
        assertThat(consume("g", 100))
                .extracting(ConsumerRecord::value)
                .allSatisfy(value ->
                        assertThat(Integer.parseInt(value.substring(1))).isGreaterThanOrEqualTo(200))
                .hasSize(100);
    }

    @Test
    void readersOfCommittedRecordsSeeCommittedOnesOnly() throws Exception {
        create("t", 4);
        try (KafkaProducer<String, String> producer =
                producer(bootstrap(first) + "," + bootstrap(second), Map.of("transactional.id", "tx"))) {
            producer.initTransactions();
            for (int round = 0; round < 10; round++) {
                producer.beginTransaction();
                for (int partition = 0; partition < 4; partition++) {
                    producer.send(new ProducerRecord<>("t", partition, "k", (round % 2 == 0 ? "c" : "a") + round));
                }
                if (round % 2 == 0) {
                    producer.commitTransaction();
                } else {
                    producer.flush();
                    producer.abortTransaction();
                }
            }
        }
        assertThat(read("t", 4, 20, Map.of("isolation.level", "read_committed")))
                .extracting(ConsumerRecord::value)
                .allSatisfy(value -> assertThat(value).startsWith("c"))
                .hasSize(20);
        assertThat(read("t", 4, 40, Map.of())).hasSize(40);
    }

    private List<ConsumerRecord<String, String>> consume(String group, int count) {
        List<ConsumerRecord<String, String>> read = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        bootstrap(first),
                        "auto.offset.reset",
                        "earliest",
                        "enable.auto.commit",
                        "false",
                        "group.id",
                        group),
                new StringDeserializer(),
                new StringDeserializer())) {
            consumer.subscribe(List.of("t"));
            for (int polls = 0; read.size() < count && polls < 100; polls++) {
                consumer.poll(Duration.ofMillis(500)).forEach(read::add);
            }
            consumer.commitSync();
        }
        return read;
    }

    @Test
    void aPortThatIsTakenIsSaidInALine() {
        MetadataClient metadata = client();
        ServingConfig config = config(3, "PLAINTEXT://127.0.0.1:" + first.port("PLAINTEXT"));
        assertThatThrownBy(() -> ServingNode.start(config, parts(3, metadata)))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        refused -> assertThat(refused.reason()).isEqualTo(StartupException.Reason.PORT_TAKEN));
    }

    private ServingNode node(int id) {
        return ServingNode.start(config(id, "PLAINTEXT://127.0.0.1:0"), parts(id, client()));
    }

    private static ServingConfig config(int id, String listeners) {
        return new ServingConfig(ServingConfig.schema()
                .check(
                        "test",
                        Map.of(
                                "node.id",
                                Integer.toString(id),
                                "listeners",
                                listeners,
                                "metadata.servers",
                                "1@localhost:1",
                                "broker.drain.timeout.ms",
                                "10000"),
                        Map.of(),
                        Map.of()));
    }

    private MetadataClient client() {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        MetadataClient client = cluster.newClient(thread);
        toClose.add(client);
        toClose.add(thread::shutdownNow);
        return client;
    }

    private ServingParts parts(int id, MetadataClient metadata) {
        return new ServingParts(
                id * 100L,
                metadata,
                bookies.client("broker-" + id),
                NoBucket.INSTANCE,
                NoBucket.INSTANCE,
                logs -> new KafkaCoordinators(
                        new CoordinatorOptions(id, Map.of("group.initial.rebalance.delay.ms", "0"), 4, 4, 4, 1 << 20),
                        metadata,
                        logs,
                        NettyBrokerClient.of(
                                metadata, loops.group(), loops.channelType().asSubclass(SocketChannel.class)),
                        SystemClock.INSTANCE,
                        faults),
                SystemClock.INSTANCE,
                new SimpleMeterRegistry(),
                faults);
    }

    private static String bootstrap(ServingNode node) {
        return "127.0.0.1:" + node.port("PLAINTEXT");
    }

    private void create(String topic, int partitions) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap(second)))) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 3)))
                    .all()
                    .get();
        }
    }

    private List<Integer> owners(String topic) {
        return cluster
                .view()
                .partitions(cluster.view().topic(topic).orElseThrow().id())
                .stream()
                .map(PartitionState::owner)
                .distinct()
                .toList();
    }

    private List<Future<RecordMetadata>> produce(String topic, int partitions, int from, int count) {
        List<Future<RecordMetadata>> sent = new ArrayList<>();
        try (KafkaProducer<String, String> producer = producer(bootstrap(first), Map.of())) {
            for (int i = from; i < from + count; i++) {
                sent.add(producer.send(new ProducerRecord<>(topic, i % partitions, "k", "v" + i)));
            }
        }
        return sent;
    }

    private static KafkaProducer<String, String> producer(String bootstrap, Map<String, String> more) {
        Map<String, Object> config = new HashMap<>(more);
        config.put("bootstrap.servers", bootstrap);
        return new KafkaProducer<>(config, new StringSerializer(), new StringSerializer());
    }

    private List<ConsumerRecord<String, String>> read(String topic, int partitions, int count) {
        return read(topic, partitions, count, Map.of());
    }

    private List<ConsumerRecord<String, String>> read(
            String topic, int partitions, int count, Map<String, String> more) {
        List<ConsumerRecord<String, String>> read = new ArrayList<>();
        Map<String, Object> config = new HashMap<>(more);
        config.put("bootstrap.servers", bootstrap(second));
        config.put("auto.offset.reset", "earliest");
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            List<TopicPartition> all = new ArrayList<>();
            for (int i = 0; i < partitions; i++) {
                all.add(new TopicPartition(topic, i));
            }
            consumer.assign(all);
            consumer.seekToBeginning(all);
            for (int polls = 0; read.size() < count && polls < 100; polls++) {
                consumer.poll(Duration.ofMillis(500)).forEach(read::add);
            }
        }
        return read;
    }
}
