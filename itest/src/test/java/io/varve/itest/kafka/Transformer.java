package io.varve.itest.kafka;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * One instance of an application that reads one topic and writes another, exactly once: each poll's records go out in one transaction with the
 * offsets. Whatever goes wrong, it begins again with new clients from what is committed, as an application that is restarted does. Runs on a thread of
 * its own.
 */
final class Transformer implements AutoCloseable {

    private final String name;
    private final String bootstrap;
    private final String group;
    private final String from;
    private final String to;
    private final int transactionTimeoutMs;
    private final AtomicLong committed = new AtomicLong();
    private final AtomicLong begunAgain = new AtomicLong();
    private final CompletableFuture<Void> ended = new CompletableFuture<>();
    private volatile boolean stopping;

    Transformer(String name, String bootstrap, String group, String from, String to, int transactionTimeoutMs) {
        this.name = name;
        this.bootstrap = bootstrap;
        this.group = group;
        this.from = from;
        this.to = to;
        this.transactionTimeoutMs = transactionTimeoutMs;
    }

    Transformer start() {
        Thread thread = new Thread(this::run, name);
        thread.setDaemon(true);
        thread.start();
        return this;
    }

    /** Records in transactions that it knows to be committed. */
    long committed() {
        return committed.get();
    }

    /** How often it had to begin again. */
    long begunAgain() {
        return begunAgain.get();
    }

    private void run() {
        try {
            while (!stopping) {
                try {
                    transform();
                } catch (KafkaException e) {
                    begunAgain.incrementAndGet();
                }
            }
            ended.complete(null);
        } catch (Throwable e) {
            ended.completeExceptionally(e);
        }
    }

    private void transform() {
        try (KafkaProducer<byte[], byte[]> producer = producer();
                KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            producer.initTransactions();
            consumer.subscribe(List.of(from));
            while (!stopping) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(200));
                if (!records.isEmpty()) {
                    transform(records, producer, consumer);
                }
            }
        }
    }

    private void transform(
            ConsumerRecords<byte[], byte[]> records,
            KafkaProducer<byte[], byte[]> producer,
            KafkaConsumer<byte[], byte[]> consumer) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        producer.beginTransaction();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            producer.send(new ProducerRecord<>(to, record.partition(), record.key(), record.value()));
            offsets.put(
                    new TopicPartition(record.topic(), record.partition()), new OffsetAndMetadata(record.offset() + 1));
        }
        producer.sendOffsetsToTransaction(offsets, consumer.groupMetadata());
        producer.commitTransaction();
        committed.addAndGet(records.count());
    }

    private KafkaProducer<byte[], byte[]> producer() {
        Map<String, Object> config = config();
        config.put("transactional.id", name);
        config.put("transaction.timeout.ms", transactionTimeoutMs);
        config.put("delivery.timeout.ms", 30_000);
        config.put("request.timeout.ms", 5_000);
        config.put("max.block.ms", 30_000);
        config.put("linger.ms", 2);
        return new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    private KafkaConsumer<byte[], byte[]> consumer() {
        Map<String, Object> config = config();
        config.put("group.id", group);
        config.put("group.instance.id", name);
        config.put("session.timeout.ms", 10_000);
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        config.put("isolation.level", "read_committed");
        config.put("max.poll.records", "300");
        return new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
    }

    private Map<String, Object> config() {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("client.id", name);
        config.put("reconnect.backoff.ms", 20);
        config.put("reconnect.backoff.max.ms", 200);
        config.put("retry.backoff.ms", 50);
        return config;
    }

    /** Lets it end, and waits for it. */
    void stop(Duration patience) throws Exception {
        stopping = true;
        ended.get(patience.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        stopping = true;
    }
}
