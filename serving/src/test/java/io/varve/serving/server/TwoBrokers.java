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
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.protocol.runtime.SystemClock;
import io.varve.serving.kafka.KafkaCoordinators;
import io.varve.serving.kafka.runtime.NettyBrokerClient;
import io.varve.sim.RecordingFaultHandler;
import io.varve.sim.ThreadTimers;
import io.varve.tiering.testing.NoBucket;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;

/** Two whole brokers, in racks {@code r1} and {@code r2}, over bookies and metadata in memory. Used by one thread. */
final class TwoBrokers implements AutoCloseable {

    final InMemoryMetadata cluster = new InMemoryMetadata(SystemClock.INSTANCE, 3).withBookies(3);

    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final List<Runnable> toClose = new ArrayList<>();
    private final Map<Integer, ServingNode> nodes = new TreeMap<>();
    private final Map<Integer, SimpleMeterRegistry> meters = new TreeMap<>();
    private final ThreadTimers timers = new ThreadTimers("memory-bookies");
    private final InMemoryBookies bookies = new InMemoryBookies(timers);
    private final EventLoopGroup loops = new MultiThreadIoEventLoopGroup(
            1, new DefaultThreadFactory("broker-client", true), NioIoHandler.newFactory());
    private long incarnations;

    TwoBrokers() {
        for (int id = 1; id <= 3; id++) {
            bookies.add(id);
        }
        nodes.put(1, node(1, 0));
        nodes.put(2, node(2, 0));
    }

    @Override
    public void close() {
        nodes.values().forEach(ServingNode::close);
        toClose.forEach(Runnable::run);
        loops.shutdownGracefully(0, 1, TimeUnit.SECONDS);
        timers.close();
        faults.assertNone();
    }

    /** Restarts both brokers, one after the other. */
    void restartEachNode() {
        restart(1);
        restart(2);
    }

    /** Restarts a broker on its port; its partitions move to the other. */
    void restart(int id) {
        ServingNode old = nodes.remove(id);
        int port = old.port("PLAINTEXT");
        old.close();
        assertThat(cluster.view().ownedBy(id)).isEmpty();
        nodes.put(id, node(id, port));
    }

    /** Where a broker listens. */
    int port(int id) {
        return nodes.get(id).port("PLAINTEXT");
    }

    /** The broker that owns a topic's first partition. */
    int owner(String topic) {
        return first(topic).owner();
    }

    /** The epoch of a topic's first partition. */
    int epoch(String topic) {
        return first(topic).epoch();
    }

    private PartitionState first(String topic) {
        MetadataView view = cluster.view();
        return view.partitions(view.topic(topic).orElseThrow().id()).iterator().next();
    }

    /** What a broker has counted since it was started. */
    SimpleMeterRegistry meters(int id) {
        return meters.get(id);
    }

    private ServingNode node(int id, int port) {
        MetadataClient metadata = client();
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        meters.put(id, registry);
        ServingConfig config = new ServingConfig(ServingConfig.schema()
                .check(
                        "test",
                        Map.of(
                                "node.id", Integer.toString(id),
                                "broker.rack", "r" + id,
                                "listeners", "PLAINTEXT://127.0.0.1:" + port,
                                "metadata.servers", "1@localhost:1",
                                "offsets.topic.num.partitions", "3",
                                "transaction.state.log.num.partitions", "3",
                                "share.coordinator.state.topic.num.partitions", "3",
                                "group.initial.rebalance.delay.ms", "0",
                                "broker.drain.timeout.ms", "10000",
                                "log.cleaner.backoff.ms", "50"),
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
                                NettyBrokerClient.of(metadata, loops, NioSocketChannel.class),
                                SystemClock.INSTANCE,
                                faults),
                        SystemClock.INSTANCE,
                        registry,
                        faults));
    }

    private MetadataClient client() {
        ExecutorService thread = Executors.newSingleThreadExecutor();
        MetadataClient client = cluster.newClient(thread);
        toClose.add(client::close);
        toClose.add(thread::shutdownNow);
        return client;
    }

    String bootstrap() {
        return String.join(
                ",",
                nodes.values().stream()
                        .map(node -> "127.0.0.1:" + node.port("PLAINTEXT"))
                        .toList());
    }

    Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", bootstrap()));
    }

    void create(String topic, int partitions) throws Exception {
        try (Admin admin = admin()) {
            admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 3)))
                    .all()
                    .get();
        }
    }

    void produce(String topic, int count) {
        try (KafkaProducer<String, String> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap()), new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < count; i++) {
                producer.send(new ProducerRecord<>(topic, "k" + i, "v" + i + "-" + System.nanoTime()));
            }
        }
    }
}
