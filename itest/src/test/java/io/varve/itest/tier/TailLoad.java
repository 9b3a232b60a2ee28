package io.varve.itest.tier;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A steady producer, and the time that each of its records takes to be acknowledged, counted from when it was due. */
final class TailLoad implements AutoCloseable {

    private static final int VALUE_BYTES = 200;

    private final KafkaProducer<byte[], byte[]> producer;
    private final KafkaConsumer<byte[], byte[]> consumer;
    private final String topic;
    private final int partitions;

    TailLoad(String bootstrap, String topic, int partitions) {
        this.topic = topic;
        this.partitions = partitions;
        this.producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", bootstrap, "acks", "all", "linger.ms", 0),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        this.consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", bootstrap), new ByteArrayDeserializer(), new ByteArrayDeserializer());
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(index -> new TopicPartition(topic, index))
                .toList();
        consumer.assign(all);
        consumer.seekToEnd(all);
        all.forEach(consumer::position);
    }

    /**
     * Runs for a while.
     *
     * @return the time from when a record was due to its acknowledgement that 99 of 100 records stay within, in microseconds
     */
    long p99Micros(Duration length, int perSecond) {
        return p99Micros(() -> false, length, perSecond);
    }

    /** {@link #p99Micros(Duration, int)} that ends when something is over, or after {@code longest}. */
    long p99Micros(BooleanSupplier isOver, Duration longest, int perSecond) {
        int most = (int) (longest.toMillis() * perSecond / 1_000);
        long[] micros = new long[most];
        long startNs = System.nanoTime();
        int count = 0;
        for (int i = 0; i < most && !isOver.getAsBoolean(); i++, count++) {
            long dueNs = startNs + i * 1_000_000_000L / perSecond;
            for (long leftNs = dueNs - System.nanoTime(); leftNs > 0; leftNs = dueNs - System.nanoTime()) {
                LockSupport.parkNanos(leftNs);
            }
            int slot = i;
            byte[] value = ByteBuffer.allocate(VALUE_BYTES).putInt(i).array();
            producer.send(new ProducerRecord<>(topic, i % partitions, null, value), (metadata, failure) -> {
                micros[slot] = failure == null ? (System.nanoTime() - dueNs) / 1_000 : Long.MAX_VALUE;
            });
            if (i % 50 == 0) {
                consumer.poll(Duration.ZERO);
            }
        }
        producer.flush();
        Arrays.sort(micros, 0, count);
        return micros[count * 99 / 100];
    }

    @Override
    public void close() {
        producer.close(Duration.ZERO);
        consumer.close();
    }
}
