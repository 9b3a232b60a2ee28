package io.varve.cli.bench;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A stock idempotent producer that writes at a steady rate, and a stock consumer that follows it, each watched for how long nothing comes. */
final class FailoverClients implements AutoCloseable {

    private final String topic;
    private final int rate;
    private final int size;
    private final Duration timeout;
    private final Properties common = new Properties();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final Silence writing = new Silence();
    private final Silence reading = new Silence();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicLong read = new AtomicLong();
    private final AtomicLong outOfOrder = new AtomicLong();
    private final Thread writer;
    private final Thread reader;
    private volatile boolean writingOver;
    private volatile boolean readingOver;

    /** The longest time between two events since the window began. Fed by one thread, looked at by another. */
    static final class Silence {
        private final AtomicLong lastNs = new AtomicLong(System.nanoTime());
        private final AtomicLong longestNs = new AtomicLong();

        void onEvent(long nowNs) {
            long before = lastNs.getAndSet(nowNs);
            longestNs.accumulateAndGet(nowNs - before, Math::max);
        }

        void restart() {
            longestNs.set(0);
        }

        long longestMs() {
            return longestNs.get() / 1_000_000;
        }
    }

    FailoverClients(String bootstrap, String topic, int rate, int size, Duration timeout) {
        this.topic = topic;
        this.rate = rate;
        this.size = size;
        this.timeout = timeout;
        common.put("bootstrap.servers", bootstrap);
        common.put("reconnect.backoff.ms", "20");
        common.put("reconnect.backoff.max.ms", "200");
        common.put("retry.backoff.ms", "20");
        common.put("request.timeout.ms", "5000");
        this.writer = thread("failover-writer", this::write);
        this.reader = thread("failover-reader", this::follow);
    }

    private Thread thread(String name, Runnable work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (RuntimeException e) {
                        failure.compareAndSet(null, e);
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
        return thread;
    }

    private void write() {
        Properties config = new Properties();
        config.putAll(common);
        config.put("acks", "all");
        config.put("enable.idempotence", "true");
        config.put("linger.ms", "0");
        config.put("delivery.timeout.ms", Long.toString(timeout.toMillis()));
        config.put("max.block.ms", Long.toString(timeout.toMillis()));
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            Pace pace = new Pace(System.nanoTime(), rate);
            for (long number = 0; !writingOver && failure.get() == null; number++) {
                pace.await(number);
                byte[] value = ByteBuffer.allocate(Math.max(Long.BYTES, size))
                        .putLong(number)
                        .array();
                producer.send(new ProducerRecord<>(topic, 0, null, value), (metadata, exception) -> {
                    if (exception != null) {
                        failure.compareAndSet(null, exception);
                    } else {
                        acknowledged.incrementAndGet();
                        writing.onEvent(System.nanoTime());
                    }
                });
            }
            producer.flush();
        }
    }

    private void follow() {
        Properties config = new Properties();
        config.putAll(common);
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "none");
        TopicPartition partition = new TopicPartition(topic, 0);
        long next = 0;
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, 0);
            while (!readingOver) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    long number = ByteBuffer.wrap(record.value()).getLong();
                    if (number != next) {
                        outOfOrder.incrementAndGet();
                    }
                    next = number + 1;
                    read.incrementAndGet();
                    reading.onEvent(System.nanoTime());
                }
            }
        }
    }

    /** From now on the longest silences count. */
    void startWindow() {
        writing.restart();
        reading.restart();
    }

    long longestWritingMs() {
        return writing.longestMs();
    }

    long longestReadingMs() {
        return reading.longestMs();
    }

    /** @throws BenchFailure if one of the clients has given up */
    long acknowledged() {
        check();
        return acknowledged.get();
    }

    long read() {
        check();
        return read.get();
    }

    long outOfOrder() {
        return outOfOrder.get();
    }

    /** Acknowledged and not read, once all is over. */
    long missing() {
        return acknowledged.get() - read.get();
    }

    private void check() {
        if (failure.get() != null) {
            throw new BenchFailure("a client gave up: " + failure.get(), failure.get());
        }
    }

    /** Writes no more, and reads until nothing is left or nothing came for the time-out. */
    void finish() {
        writingOver = true;
        join(writer);
        long deadlineNs = System.nanoTime() + timeout.toNanos();
        while (read() < acknowledged() && System.nanoTime() - deadlineNs < 0) {
            LockSupport.parkNanos(20_000_000);
        }
        close();
    }

    private void join(Thread thread) {
        try {
            thread.join(timeout.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public void close() {
        writingOver = true;
        readingOver = true;
        join(reader);
    }
}
