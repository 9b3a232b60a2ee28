package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Partition 0 of a topic that is to be compacted, and what was acknowledged of it: numbered records, whose keys take turns, written and read by stock clients. One thread.
 */
public final class KeyedLog {

    private static final int VALUE_BYTES = 150;

    private final String topic;
    private final int keys;

    /** What was acknowledged, by offset. */
    private final ConcurrentSkipListMap<Long, String> acknowledged = new ConcurrentSkipListMap<>();

    public KeyedLog(String topic, int keys) {
        this.topic = topic;
        this.keys = keys;
    }

    /** Exclusive, of what was acknowledged. */
    public long endOffset() {
        return acknowledged.isEmpty() ? 0 : acknowledged.lastKey() + 1;
    }

    /** Writes the records of some numbers, and returns when all of them are acknowledged. */
    public void write(String bootstrap, int from, int to) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("delivery.timeout.ms", 120_000);
        config.put("request.timeout.ms", 10_000);
        config.put("batch.size", 8 * 1024);
        ConcurrentLinkedQueue<Exception> failures = new ConcurrentLinkedQueue<>();
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int i = from; i < to; i++) {
                String value = i + "-" + "x".repeat(VALUE_BYTES);
                producer.send(new ProducerRecord<>(topic, key(i), value), (metadata, failure) -> {
                    if (failure == null) {
                        acknowledged.put(metadata.offset(), value);
                    } else {
                        failures.add(failure);
                    }
                });
            }
            producer.flush();
        }
        assertThat(failures).isEmpty();
    }

    /**
     * Reads from offset 0 to the end, and compares: each record is what was acknowledged at its offset (I-2), and the newest of each key is among them (I-1).
     *
     * @return how many records there were
     */
    public int readBack(String bootstrap, Duration patience) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", false);
        TopicPartition partition = new TopicPartition(topic, 0);
        TreeMap<Long, String> read = new TreeMap<>();
        TreeMap<String, Long> newest = new TreeMap<>();
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, 0);
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            assertThat(end).as("offsets are what they were").isGreaterThan(acknowledged.lastKey());
            long deadline = System.nanoTime() + patience.toNanos();
            while (consumer.position(partition) < end && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    read.put(record.offset(), record.value());
                    newest.put(record.key(), record.offset());
                }
            }
            assertThat(consumer.position(partition)).isGreaterThanOrEqualTo(end);
        }
        read.forEach((offset, value) -> assertThat(acknowledged).as("I-2").containsEntry(offset, value));
        TreeMap<String, Long> expected = new TreeMap<>();
        acknowledged.forEach((offset, value) ->
                expected.put(key(Integer.parseInt(value.substring(0, value.indexOf('-')))), offset));
        assertThat(newest).as("I-1 the newest of each key").isEqualTo(expected);
        return read.size();
    }

    private String key(int number) {
        return "key-" + number % keys;
    }
}
