package io.varve.cli.prepare;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.cli.admin.StatusCommand;
import io.varve.cli.local.ClusterLayout;
import io.varve.cli.local.FreePorts;
import io.varve.cli.local.LocalCluster;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import picocli.CommandLine;

/** A whole cluster in this process for a moment, used by an admin client, a transaction, a member of a group and somebody who looks at it: what is used in earnest has been used once. */
final class Rehearsal {

    private static final String TOPIC = "rehearsal";
    private static final int RECORDS = 1_000;
    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private Rehearsal() {}

    /**
     * @param directory for all data, which it makes
     * @param overrides keys for every role that has them
     */
    static void run(Path directory, Map<String, String> overrides) throws Exception {
        ClusterLayout layout = ClusterLayout.of(directory, 1, 3, 1, new FreePorts());
        Map<String, String> config = new TreeMap<>(overrides);
        config.putIfAbsent("group.initial.rebalance.delay.ms", "0");
        LocalCluster cluster = LocalCluster.start(layout, true, config, new SimpleMeterRegistry());
        try {
            createTopic(layout.bootstrap());
            write(layout.bootstrap());
            read(layout.bootstrap());
            new CommandLine(new StatusCommand()).execute("--metadata", layout.metadataServers());
        } finally {
            cluster.close();
        }
    }

    private static void createTopic(String bootstrap)
            throws ExecutionException, InterruptedException, TimeoutException {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic(TOPIC, 1, (short) -1)))
                    .all()
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
    }

    private static void write(String bootstrap) {
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "transactional.id", TOPIC);
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 0; i < RECORDS; i++) {
                producer.send(new ProducerRecord<>(TOPIC, new byte[100]));
            }
            producer.commitTransaction();
        }
    }

    private static void read(String bootstrap) {
        Map<String, Object> config =
                Map.of("bootstrap.servers", bootstrap, "group.id", TOPIC, "auto.offset.reset", "earliest");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(TOPIC));
            long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
            for (int read = 0; read < RECORDS && System.nanoTime() - deadlineNs < 0; ) {
                read += consumer.poll(Duration.ofMillis(200)).count();
            }
            consumer.commitSync(PATIENCE);
        }
    }
}
