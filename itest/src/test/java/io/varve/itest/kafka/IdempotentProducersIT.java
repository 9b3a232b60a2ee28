package io.varve.itest.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.ProcessCluster;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * C10 of the user reports, T3 to T6: idempotent producers of several client libraries write to the same 32 partitions, while brokers are killed, so
 * that answers to what was written get lost, and stopped gently, so that partitions move. {@code varve.it.moves.seconds} makes it longer.
 */
class IdempotentProducersIT {

    private static final Path INSTALLED = Path.of("target", "clients").toAbsolutePath();
    private static final Path PROGRAMS = Path.of("clients").toAbsolutePath();
    private static final String TOPIC = "moved";
    private static final int PARTITIONS = 32;
    private static final int PER_SECOND = 200;
    private static final int RECORDS = Math.toIntExact(Long.getLong("varve.it.moves.seconds", 30) * PER_SECOND);
    private static final long TROUBLE_EVERY_SECONDS = 7;
    private static final long CALM_SECONDS_MIN = 2;
    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final List<Process> processes = new ArrayList<>();

    /** @param acked where each acknowledged record is; the others failed, or nothing was said of them */
    private record Told(Map<Integer, TopicPartitionOffset> acked, List<String> failures) {}

    private record TopicPartitionOffset(int partition, long offset) {}

    @Test
    void everyAcknowledgedRecordIsThereOnceAndInOrderForAllKindsOfProducers() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 3));
        cluster.createTopic(TOPIC, PARTITIONS, Map.of());
        Map<String, CompletableFuture<Told>> producers = new LinkedHashMap<>();
        producers.put("java", CompletableFuture.supplyAsync(() -> produce(cluster.bootstrap())));
        try {
            for (Map.Entry<String, List<String>> other :
                    otherKinds(cluster.bootstrap()).entrySet()) {
                producers.put(other.getKey(), start(other.getKey(), other.getValue()));
            }
            int troubles = trouble(cluster, producers);
            Map<String, Told> told = new TreeMap<>();
            for (Map.Entry<String, CompletableFuture<Told>> one : producers.entrySet()) {
                told.put(one.getKey(), one.getValue().get(PATIENCE.toSeconds(), TimeUnit.SECONDS));
            }
            assertThat(troubles).as("kills and stops meanwhile").isGreaterThan(2);
            judge(cluster, told);
            System.out.println(
                    "TESTED idempotent producers through " + troubles + " kills and stops: " + told.keySet());
        } finally {
            processes.forEach(Process::destroyForcibly);
        }
    }

    /** Kills one broker, stops the next, and so on, until all producers are done: as often where a broker takes long to start, as long as there is some calm between two. */
    private static int trouble(ProcessCluster cluster, Map<String, CompletableFuture<Told>> producers)
            throws IOException {
        int count = 0;
        CompletableFuture<Void> all = CompletableFuture.allOf(producers.values().toArray(CompletableFuture[]::new));
        long lastNs = System.nanoTime();
        while (!all.isDone()) {
            LockSupport.parkNanos(Math.max(
                    TimeUnit.SECONDS.toNanos(CALM_SECONDS_MIN),
                    lastNs + TimeUnit.SECONDS.toNanos(TROUBLE_EVERY_SECONDS) - System.nanoTime()));
            lastNs = System.nanoTime();
            int broker = 1 + count % 3;
            if (count++ % 2 == 0) {
                cluster.broker(broker).kill();
            } else {
                cluster.broker(broker).terminate();
                assertThat(cluster.broker(broker).awaitExit(PATIENCE)).hasValue(0);
            }
            ProcessCluster.awaitReady(cluster.launchBroker(broker));
        }
        return count;
    }

    private static Told produce(String bootstrap) {
        Map<Integer, TopicPartitionOffset> acked = new TreeMap<>();
        List<String> failures = new ArrayList<>();
        Map<String, Object> config = Map.of("bootstrap.servers", bootstrap, "reconnect.backoff.max.ms", "200");
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            long beganNs = System.nanoTime();
            for (int n = 0; n < RECORDS; n++) {
                int number = n;
                producer.send(new ProducerRecord<>(TOPIC, n % PARTITIONS, null, "java-" + n), (record, failure) -> {
                    // Both on the producer's one thread.
                    if (failure == null) {
                        acked.put(number, new TopicPartitionOffset(record.partition(), record.offset()));
                    } else {
                        failures.add("FAIL " + number + " " + failure);
                    }
                });
                LockSupport.parkNanos(beganNs + TimeUnit.SECONDS.toNanos(1) / PER_SECOND * n - System.nanoTime());
            }
        }
        return new Told(acked, failures);
    }

    private static Map<String, List<String>> otherKinds(String bootstrap) {
        String python = INSTALLED.resolve("python/bin/python").toString();
        Map<String, List<String>> kinds = new LinkedHashMap<>();
        kinds.put(
                "confluent-kafka",
                List.of(python, PROGRAMS.resolve("python/confluent_load.py").toString(), bootstrap));
        kinds.put(
                "kafka-python",
                List.of(python, PROGRAMS.resolve("python/kafka_python_load.py").toString(), bootstrap));
        kinds.put("franz-go", List.of(INSTALLED.resolve("franz").toString(), bootstrap, "load"));
        kinds.put("sarama", List.of(INSTALLED.resolve("sarama").toString(), bootstrap, "load"));
        kinds.entrySet().removeIf(kind -> {
            boolean missing = !Files.isExecutable(Path.of(kind.getValue().get(0)));
            if (missing) {
                System.out.println("SKIPPED client " + kind.getKey() + ": run itest/clients/install.sh");
            }
            return missing;
        });
        return kinds;
    }

    private CompletableFuture<Told> start(String name, List<String> command) throws IOException {
        List<String> whole = new ArrayList<>(command);
        whole.addAll(List.of(TOPIC, name, Integer.toString(RECORDS), Integer.toString(PER_SECOND)));
        Process process = new ProcessBuilder(whole)
                .redirectError(clusters.directory().resolve(name + ".log").toFile())
                .start();
        processes.add(process);
        return CompletableFuture.supplyAsync(() -> {
            Map<Integer, TopicPartitionOffset> acked = new TreeMap<>();
            List<String> failures = new ArrayList<>();
            try (BufferedReader lines = process.inputReader()) {
                for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                    String[] words = line.split(" ");
                    if (words[0].equals("ACK")) {
                        acked.put(
                                Integer.parseInt(words[1]),
                                new TopicPartitionOffset(Integer.parseInt(words[2]), Long.parseLong(words[3])));
                    } else {
                        failures.add(line);
                    }
                }
            } catch (IOException e) {
                failures.add("its output can't be read: " + e);
            }
            return new Told(acked, failures);
        });
    }

    private static void judge(ProcessCluster cluster, Map<String, Told> told) {
        Map<String, Map<Integer, TopicPartitionOffset>> found = new TreeMap<>();
        Map<String, Integer> lastOfProducer = new TreeMap<>();
        List<String> wrong = new ArrayList<>();
        for (ConsumerRecord<String, String> record : readAll(cluster)) {
            int dash = record.value().lastIndexOf('-');
            String name = record.value().substring(0, dash);
            int number = Integer.parseInt(record.value().substring(dash + 1));
            var before = found.computeIfAbsent(name, n -> new TreeMap<>())
                    .put(number, new TopicPartitionOffset(record.partition(), record.offset()));
            if (before != null) {
                wrong.add(record.value() + " is there twice");
            }
            Integer last = lastOfProducer.put(name + "/" + record.partition(), number);
            if (last != null && last > number) {
                wrong.add(record.value() + " comes after " + last + " in partition " + record.partition());
            }
        }
        told.forEach((name, one) -> {
            one.failures().forEach(failure -> wrong.add(name + ": " + failure));
            if (one.acked().size() != RECORDS) {
                wrong.add(name + " was acknowledged " + one.acked().size() + " of " + RECORDS);
            }
            one.acked().forEach((number, where) -> {
                if (!where.equals(found.getOrDefault(name, Map.of()).get(number))) {
                    wrong.add(name + "-" + number + " was acknowledged at " + where + " and is at "
                            + found.getOrDefault(name, Map.of()).get(number));
                }
            });
        });
        assertThat(wrong).isEmpty();
    }

    private static List<ConsumerRecord<String, String>> readAll(ProcessCluster cluster) {
        List<TopicPartition> partitions = IntStream.range(0, PARTITIONS)
                .mapToObj(index -> new TopicPartition(TOPIC, index))
                .toList();
        List<ConsumerRecord<String, String>> records = new ArrayList<>();
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrap(), "enable.auto.commit", "false"),
                new StringDeserializer(),
                new StringDeserializer())) {
            consumer.assign(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions, PATIENCE);
            consumer.seekToBeginning(partitions);
            long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
            while (partitions.stream().anyMatch(one -> consumer.position(one) < ends.get(one))) {
                assertThat(System.nanoTime() - deadlineNs).as("time left").isNegative();
                consumer.poll(Duration.ofMillis(200)).forEach(records::add);
            }
        }
        return records;
    }
}
