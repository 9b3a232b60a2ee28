package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a partition from offset 0, as fast as it goes, and compares every byte. For one thread at a time. */
final class ColdReader implements AutoCloseable {

    private static final Duration SILENCE_MAX = Duration.ofMinutes(10);

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final PatternRecords records;
    private long next;
    private long tookNs;

    ColdReader(String bootstrap, TopicPartition partition, PatternRecords records) {
        this.records = records;
        consumer = new KafkaConsumer<>(
                Map.of(
                        "bootstrap.servers",
                        bootstrap,
                        "auto.offset.reset",
                        "none",
                        "max.poll.records",
                        2_000,
                        "fetch.max.bytes",
                        8 << 20,
                        "max.partition.fetch.bytes",
                        4 << 20),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        consumer.assign(List.of(partition));
        consumer.seek(partition, 0);
    }

    /** Goes on from where it stopped, through {@code endOffset} exclusive and what came with it. */
    void readUntil(long endOffset) {
        long startNs = System.nanoTime();
        long heardNs = startNs;
        while (next < endOffset) {
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                assertThat(record.offset()).isEqualTo(next);
                records.check(next, record.value());
                next++;
                heardNs = System.nanoTime();
            }
            assertThat(System.nanoTime() - heardNs)
                    .as("nothing came at offset " + next)
                    .isLessThan(SILENCE_MAX.toNanos());
        }
        tookNs += System.nanoTime() - startNs;
    }

    /** What all reading took together. */
    long tookNs() {
        return tookNs;
    }

    @Override
    public void close() {
        consumer.close();
    }
}
