package io.varve.itest.tier;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A steady producer, with a reader at the tail, as a program of its own: nothing that others do in their process makes it late. Prints for each second {@code micros A B C …}: how long each record took to be
 * acknowledged, counted from when it was due, {@code -1} if it failed. Ends when its standard input does.
 */
public final class TailProducer {

    private static final int VALUE_BYTES = 200;

    private final int perSecond;
    private StringBuilder line = new StringBuilder("micros");
    private int onLine;

    private TailProducer(int perSecond) {
        this.perSecond = perSecond;
    }

    /** @param arguments bootstrap servers, topic, number of its partitions, records a second */
    public static void main(String[] arguments) {
        int partitions = Integer.parseInt(arguments[2]);
        int perSecond = Integer.parseInt(arguments[3]);
        AtomicBoolean ending = new AtomicBoolean();
        Thread watcher = new Thread(() -> awaitEndOfInput(ending), "input-watch");
        watcher.setDaemon(true);
        watcher.start();
        new TailProducer(perSecond).run(arguments[0], arguments[1], partitions, ending);
    }

    private void run(String bootstrap, String topic, int partitions, AtomicBoolean ending) {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        Map.of("bootstrap.servers", bootstrap, "acks", "all", "linger.ms", 0),
                        new ByteArraySerializer(),
                        new ByteArraySerializer());
                KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                        Map.of("bootstrap.servers", bootstrap),
                        new ByteArrayDeserializer(),
                        new ByteArrayDeserializer())) {
            List<TopicPartition> all = IntStream.range(0, partitions)
                    .mapToObj(index -> new TopicPartition(topic, index))
                    .toList();
            consumer.assign(all);
            consumer.seekToEnd(all);
            all.forEach(consumer::position);
            long startNs = System.nanoTime();
            for (int i = 0; !ending.get(); i++) {
                long dueNs = startNs + i * 1_000_000_000L / perSecond;
                for (long leftNs = dueNs - System.nanoTime(); leftNs > 0; leftNs = dueNs - System.nanoTime()) {
                    LockSupport.parkNanos(leftNs);
                }
                byte[] value = ByteBuffer.allocate(VALUE_BYTES).putInt(i).array();
                producer.send(
                        new ProducerRecord<>(topic, i % partitions, null, value),
                        (metadata, failure) -> onAnswer(failure == null ? (System.nanoTime() - dueNs) / 1_000 : -1));
                if (i % 50 == 0) {
                    consumer.poll(Duration.ZERO);
                }
            }
        }
    }

    private synchronized void onAnswer(long micros) {
        line.append(' ').append(micros);
        if (++onLine == perSecond) {
            System.out.println(line);
            line = new StringBuilder("micros");
            onLine = 0;
        }
    }

    private static void awaitEndOfInput(AtomicBoolean ending) {
        try {
            while (System.in.read() >= 0) {
                // Nobody says anything but that it is over.
            }
        } catch (IOException e) {
            // As good as an end.
        }
        ending.set(true);
    }
}
