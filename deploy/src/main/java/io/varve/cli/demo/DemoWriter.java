package io.varve.cli.demo;

import io.varve.cli.text.Progress;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes through the stock idempotent producer and enters every acknowledgement into a ledger. The producer acknowledges each partition's
 * records in the order of their offsets, on one thread; the ledger may be read once {@link #flush} has returned.
 */
final class DemoWriter implements AutoCloseable {

    private final String topic;
    private final Ledger ledger;
    private final KafkaProducer<byte[], byte[]> producer;
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicReference<Exception> failure = new AtomicReference<>();

    DemoWriter(String bootstrap, String topic, Ledger ledger) {
        this.topic = topic;
        this.ledger = ledger;
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("acks", "all");
        config.put("enable.idempotence", "true");
        config.put("compression.type", "none");
        // How soon the stock client notices that the broker it talks to is gone.
        config.put("reconnect.backoff.ms", "20");
        config.put("reconnect.backoff.max.ms", "200");
        config.put("retry.backoff.ms", "20");
        this.producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Writes all of the input; returns how long that took, in nanoseconds. */
    long write(DemoInput input) {
        long startNs = System.nanoTime();
        try (Progress progress = Progress.of("writing", input.count())) {
            while (input.records().hasNext() && failure.get() == null) {
                DemoRecord record = input.records().next();
                send(new ProducerRecord<>(topic, bytes(record.key()), bytes(record.line())));
                progress.to(acknowledged.get());
            }
            flush();
            progress.to(acknowledged.get());
        }
        return System.nanoTime() - startNs;
    }

    /** Writes one record to every partition and waits for all; returns how long that took, in nanoseconds. */
    long touchEveryPartition(String line) {
        long startNs = System.nanoTime();
        for (int partition = 0; partition < ledger.partitions(); partition++) {
            send(new ProducerRecord<>(topic, partition, bytes("demo"), bytes(line)));
        }
        flush();
        return System.nanoTime() - startNs;
    }

    private void send(ProducerRecord<byte[], byte[]> record) {
        producer.send(record, (metadata, exception) -> {
            if (exception != null) {
                failure.compareAndSet(null, exception);
                return;
            }
            ledger.enter(metadata.partition(), metadata.offset(), record.key(), record.value());
            acknowledged.incrementAndGet();
        });
    }

    private void flush() {
        producer.flush();
        if (failure.get() != null) {
            throw new DemoFailure("a record was not acknowledged: " + failure.get());
        }
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }
}
