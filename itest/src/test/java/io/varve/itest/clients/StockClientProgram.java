package io.varve.itest.clients;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.AdminClient;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * The stock Java client as its users use it. Run as a process of its own, with one version of kafka-clients and what belongs to it on the
 * class path: names only what kafka-clients 2.1 has too.
 */
public final class StockClientProgram {

    private static final Duration TICK = Duration.ofMillis(200);

    private final Map<String, Object> common = new HashMap<>();
    private final String run = "java-" + UUID.randomUUID().toString().substring(0, 8);
    private final AdminClient admin;
    private int passed;
    private int failed;

    private StockClientProgram(String bootstrap) {
        common.put("bootstrap.servers", bootstrap);
        admin = AdminClient.create(common);
    }

    /** @param args the bootstrap address, and the client's version for the heading */
    public static void main(String[] args) {
        StockClientProgram program = new StockClientProgram(args[0]);
        System.out.println("# kafka-clients " + args[1]);
        program.check("create", program::create);
        program.check("codecs", program::codecs);
        program.check("idempotent", program::idempotent);
        program.check("by-time", program::byTime);
        program.check("group", program::group);
        program.check("transactions", program::transactions);
        program.check("delete", program::delete);
        System.out.println(program.passed + " passed, " + program.failed + " failed");
        System.exit(program.failed == 0 ? 0 : 1);
    }

    private void create() throws Exception {
        create(run, 3);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(null, Map.of())) {
            expect(3, consumer.partitionsFor(run).size(), "partitions");
        }
        try {
            create(run, 3);
            throw new AssertionError("the second create was not refused");
        } catch (ExecutionException refused) {
            expect(TopicExistsException.class, refused.getCause().getClass(), "second create");
        }
    }

    private void codecs() throws Exception {
        List<String> codecs = new ArrayList<>(List.of("none", "gzip", "snappy", "lz4", "zstd"));
        for (String codec : codecs) {
            String topic = run + "-" + codec;
            create(topic, 1);
            List<ProducerRecord<byte[], byte[]>> written = IntStream.range(0, 1000)
                    .mapToObj(i -> record(topic, bytes("k" + i), bytes(("v" + i).repeat(1 + i % 500)), "1"))
                    .collect(Collectors.toCollection(ArrayList::new));
            written.add(record(topic, null, new byte[0], null));
            written.add(record(topic, new byte[0], null, null));
            produce(written, Map.of("compression.type", codec, "linger.ms", 20));
            List<ConsumerRecord<byte[], byte[]>> back = readAll(topic, written.size(), Map.of());
            expect(written.size(), back.size(), codec + " records");
            for (int i = 0; i < back.size(); i++) {
                ConsumerRecord<byte[], byte[]> read = back.get(i);
                ProducerRecord<byte[], byte[]> wanted = written.get(i);
                boolean same = read.offset() == i
                        && Arrays.equals(read.key(), wanted.key())
                        && Arrays.equals(read.value(), wanted.value())
                        && Arrays.equals(
                                read.headers().toArray(), wanted.headers().toArray());
                expect(true, same, codec + " record " + i);
            }
        }
    }

    private void idempotent() throws Exception {
        String topic = run + "-idempotent";
        create(topic, 1);
        List<ProducerRecord<byte[], byte[]>> written = IntStream.range(0, 5000)
                .mapToObj(i -> record(topic, null, bytes("" + i), null))
                .toList();
        produce(written, Map.of("enable.idempotence", true));
        expect(
                IntStream.range(0, 5000).mapToObj(Integer::toString).toList(),
                values(readAll(topic, 5000, Map.of())),
                "values in order");
    }

    private void byTime() throws Exception {
        String topic = run + "-time";
        create(topic, 1);
        long now = System.currentTimeMillis() - 100_000;
        for (int i = 0; i < 5; i++) {
            produce(List.of(new ProducerRecord<>(topic, 0, now + i * 1000L, null, bytes("v"))), Map.of());
        }
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(null, Map.of())) {
            OffsetAndTimestamp found =
                    consumer.offsetsForTimes(Map.of(partition, now + 1500)).get(partition);
            expect(2L, found.offset(), "first at or after");
            expect(now + 2000, found.timestamp(), "its own time");
            expect(
                    null,
                    consumer.offsetsForTimes(Map.of(partition, now + 90_000)).get(partition),
                    "none");
        }
    }

    private void group() throws Exception {
        String topic = run + "-group";
        create(topic, 4);
        List<ProducerRecord<byte[], byte[]>> written = IntStream.range(0, 400)
                .mapToObj(i -> new ProducerRecord<byte[], byte[]>(topic, i % 4, null, bytes("" + i)))
                .toList();
        produce(written, Map.of());
        Set<String> seen = new HashSet<>();
        try (KafkaConsumer<byte[], byte[]> first = consumer(topic, Map.of());
                KafkaConsumer<byte[], byte[]> second = consumer(topic, Map.of())) {
            first.subscribe(List.of(topic), commitWhenRevoked(first));
            second.subscribe(List.of(topic), commitWhenRevoked(second));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            boolean shared = false;
            while (!(shared && seen.size() == 400) && System.nanoTime() < deadline) {
                // One after the other on one thread: a poll of each moves the rebalance of both.
                first.poll(TICK).forEach(r -> seen.add(text(r.value())));
                second.poll(TICK).forEach(r -> seen.add(text(r.value())));
                shared = first.assignment().size() == 2 && second.assignment().size() == 2;
            }
            expect(true, shared, "each member has two partitions");
            expect(400, seen.size(), "different records");
            first.commitSync();
            second.commitSync();
        }
        produce(List.of(new ProducerRecord<>(topic, 2, null, bytes("later"))), Map.of());
        try (KafkaConsumer<byte[], byte[]> third = consumer(topic, Map.of())) {
            third.subscribe(List.of(topic));
            List<ConsumerRecord<byte[], byte[]>> after = take(third, 1, 30);
            after.addAll(take(third, 1, 1));
            expect(List.of("later"), values(after), "after the commit");
        }
    }

    private static ConsumerRebalanceListener commitWhenRevoked(KafkaConsumer<?, ?> consumer) {
        return new ConsumerRebalanceListener() {
            @Override
            public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
                consumer.commitSync();
            }

            @Override
            public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
                // Reading goes on from what was committed.
            }
        };
    }

    private void transactions() throws Exception {
        String topic = run + "-transactions";
        create(topic, 1);
        try (KafkaProducer<byte[], byte[]> producer = producer(Map.of("transactional.id", run))) {
            producer.initTransactions();
            for (String value : List.of("a", "b", "c")) {
                producer.beginTransaction();
                producer.send(record(topic, null, bytes(value), null)).get(30, TimeUnit.SECONDS);
                if (value.equals("b")) {
                    producer.abortTransaction();
                } else {
                    producer.commitTransaction();
                }
            }
        }
        expect(
                List.of("a", "c"),
                values(readAll(topic, 2, Map.of("isolation.level", "read_committed"))),
                "read_committed");
        expect(
                List.of("a", "b", "c"),
                values(readAll(topic, 3, Map.of("isolation.level", "read_uncommitted"))),
                "read_uncommitted");
    }

    private void delete() throws Exception {
        String topic = run + "-time";
        TopicPartition partition = new TopicPartition(topic, 0);
        admin.deleteRecords(Map.of(partition, RecordsToDelete.beforeOffset(3)))
                .all()
                .get(30, TimeUnit.SECONDS);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(null, Map.of())) {
            expect(3L, consumer.beginningOffsets(List.of(partition)).get(partition), "log start");
        }
        admin.deleteTopics(List.of(topic)).all().get(30, TimeUnit.SECONDS);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
        while (admin.listTopics().names().get(30, TimeUnit.SECONDS).contains(topic)) {
            expect(true, System.nanoTime() < deadline, "the topic goes");
        }
    }

    private void create(String topic, int partitions) throws Exception {
        // A factor of 1, because clients before 2.4 can't leave it to the broker.
        admin.createTopics(List.of(new NewTopic(topic, partitions, (short) 1)))
                .all()
                .get(30, TimeUnit.SECONDS);
    }

    private static ProducerRecord<byte[], byte[]> record(String topic, byte[] key, byte[] value, String header) {
        List<Header> headers = header == null ? List.of() : List.of(new RecordHeader("h", bytes(header)));
        return new ProducerRecord<>(topic, 0, key, value, headers);
    }

    private void produce(List<ProducerRecord<byte[], byte[]>> records, Map<String, Object> config) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = producer(config)) {
            List<Future<RecordMetadata>> sent = new ArrayList<>();
            for (ProducerRecord<byte[], byte[]> record : records) {
                sent.add(producer.send(record));
            }
            for (Future<RecordMetadata> one : sent) {
                one.get(60, TimeUnit.SECONDS);
            }
        }
    }

    private KafkaProducer<byte[], byte[]> producer(Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(common);
        all.put("acks", "all");
        all.putAll(config);
        return new KafkaProducer<>(all, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private KafkaConsumer<byte[], byte[]> consumer(String group, Map<String, Object> config) {
        Map<String, Object> all = new HashMap<>(common);
        all.put("group.id", Objects.requireNonNullElse(group, run + UUID.randomUUID()));
        all.put("auto.offset.reset", "earliest");
        all.put("enable.auto.commit", false);
        all.putAll(config);
        return new KafkaConsumer<>(all, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    /** Partition 0 from its start: {@code count} records, and a second more for those that should not come. */
    private List<ConsumerRecord<byte[], byte[]>> readAll(String topic, int count, Map<String, Object> config) {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (KafkaConsumer<byte[], byte[]> consumer = consumer(null, config)) {
            consumer.assign(Collections.singleton(partition));
            consumer.seekToBeginning(Collections.singleton(partition));
            List<ConsumerRecord<byte[], byte[]>> taken = take(consumer, count, 30);
            taken.addAll(take(consumer, 1, 1));
            return taken;
        }
    }

    private static List<ConsumerRecord<byte[], byte[]>> take(
            KafkaConsumer<byte[], byte[]> consumer, int count, int seconds) {
        List<ConsumerRecord<byte[], byte[]>> taken = new ArrayList<>();
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
        while (taken.size() < count && System.nanoTime() < deadline) {
            consumer.poll(TICK).forEach(taken::add);
        }
        return taken;
    }

    private static List<String> values(Collection<ConsumerRecord<byte[], byte[]>> records) {
        return records.stream().map(r -> text(r.value())).toList();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static void expect(Object wanted, Object actual, String what) {
        if (!Objects.equals(wanted, actual)) {
            throw new AssertionError(what + ": " + actual + ", wanted " + wanted);
        }
    }

    private void check(String name, Check check) {
        long began = System.nanoTime();
        try {
            check.run();
            passed++;
            System.out.println("PASS " + name + " (" + (System.nanoTime() - began) / 1_000_000 + " ms)");
        } catch (Exception | AssertionError trouble) {
            failed++;
            System.out.println("FAIL " + name + ": " + trouble);
            trouble.printStackTrace(System.out);
        }
    }

    private interface Check {
        void run() throws Exception;
    }
}
