package io.varve.itest.cluster;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads a topic from its start and goes on, on a thread of its own, and notes everything that no failure excuses: an offset that comes again, goes back or is left out, and an error that is not retriable.
 */
final class SteadyReader implements AutoCloseable {

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final long[] nextOffsets;
    private final AtomicLong count = new AtomicLong();
    private final ConcurrentLinkedQueue<String> wrong = new ConcurrentLinkedQueue<>();
    private final Thread thread;
    private volatile boolean stopping;

    SteadyReader(String bootstrap, String topic, int partitions) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", false);
        config.put("auto.offset.reset", "none");
        config.put("reconnect.backoff.max.ms", 200);
        config.put("request.timeout.ms", 5_000);
        config.put("fetch.max.wait.ms", 200);
        this.nextOffsets = new long[partitions];
        this.consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(index -> new TopicPartition(topic, index))
                .toList();
        consumer.assign(all);
        all.forEach(partition -> consumer.seek(partition, 0));
        this.thread = new Thread(this::run, "steady-reader");
        thread.setDaemon(true);
        thread.start();
    }

    private void run() {
        while (!stopping) {
            try {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    long expected = nextOffsets[record.partition()];
                    if (record.offset() != expected) {
                        wrong.add("partition " + record.partition() + ": offset " + record.offset() + " instead of "
                                + expected);
                    }
                    nextOffsets[record.partition()] = record.offset() + 1;
                    count.incrementAndGet();
                }
            } catch (RetriableException passing) {
                // What a client goes on after.
            } catch (RuntimeException failed) {
                wrong.add(failed.toString());
                stopping = true;
            }
        }
        consumer.close();
    }

    /** How many records came so far. */
    long count() {
        return count.get();
    }

    /** What was wrong so far. */
    List<String> wrong() {
        return new ArrayList<>(wrong);
    }

    @Override
    public void close() {
        stopping = true;
        try {
            thread.join(TimeUnit.SECONDS.toMillis(30));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
