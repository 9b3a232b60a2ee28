package io.varve.itest.cluster;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Writes numbered records round robin to the partitions of a topic, through one idempotent stock producer with {@code acks=all}, on a
 * thread of its own, and enters every acknowledgement into an {@link AckLog}.
 */
public final class NumberedProducer implements AutoCloseable {

    private static final int IN_FLIGHT_MAX = 50_000;

    private final AckLog acks;
    private final String topic;
    private final int valueBytes;
    private final KafkaProducer<byte[], byte[]> producer;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private final AtomicLong acknowledged = new AtomicLong();
    private final AtomicReference<Exception> failure = new AtomicReference<>();
    private final Semaphore room = new Semaphore(IN_FLIGHT_MAX);
    private volatile LongConsumer onAcknowledged = nanos -> {};
    private volatile boolean stopping;

    public NumberedProducer(String bootstrap, String topic, int valueBytes, AckLog acks, Duration deliveryTimeout) {
        this.acks = acks;
        this.topic = topic;
        this.valueBytes = valueBytes;
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("acks", "all");
        config.put("enable.idempotence", true);
        config.put("delivery.timeout.ms", (int) deliveryTimeout.toMillis());
        config.put("request.timeout.ms", 5_000);
        config.put("max.block.ms", deliveryTimeout.toMillis());
        config.put("retry.backoff.ms", 20);
        config.put("reconnect.backoff.ms", 20);
        config.put("reconnect.backoff.max.ms", 200);
        this.producer = new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer());
    }

    /** Told the {@link System#nanoTime()} of every acknowledgement, in the producer's own thread. */
    public NumberedProducer onAcknowledged(LongConsumer listener) {
        this.onAcknowledged = listener;
        return this;
    }

    /**
     * Begins to write records {@code first}, {@code first + 1} and so on.
     *
     * @param first positive
     * @param count how many, at most: {@link #stop} ends it sooner
     * @param perSecond how fast, 0 for as fast as it goes
     */
    public NumberedProducer start(long first, long count, int perSecond) {
        Thread thread = new Thread(
                () -> {
                    try {
                        write(first, count, perSecond);
                        done.complete(null);
                    } catch (Throwable e) {
                        done.completeExceptionally(e);
                    }
                },
                "numbered-producer-" + first);
        thread.setDaemon(true);
        thread.start();
        return this;
    }

    private void write(long first, long count, int perSecond) throws InterruptedException {
        long startNs = System.nanoTime();
        for (long sent = 0; sent < count && !stopping && failure.get() == null; sent++) {
            if (perSecond > 0) {
                LockSupport.parkNanos(startNs + sent * 1_000_000_000L / perSecond - System.nanoTime());
            }
            room.acquire();
            long record = first + sent;
            int partition = (int) (record % acks.partitions());
            producer.send(new ProducerRecord<>(topic, partition, null, value(record)), (metadata, exception) -> {
                room.release();
                if (exception != null) {
                    failure.compareAndSet(null, exception);
                    return;
                }
                acks.acknowledged(partition, metadata.offset(), record);
                acknowledged.incrementAndGet();
                onAcknowledged.accept(System.nanoTime());
            });
        }
        producer.flush();
    }

    private byte[] value(long record) {
        return valueOf(record, valueBytes);
    }

    /** The value that stands for a record. */
    static byte[] valueOf(long record, int bytes) {
        return ByteBuffer.allocate(bytes).putLong(record).array();
    }

    /** The record that a value was made for. */
    public static long record(byte[] value) {
        return ByteBuffer.wrap(value).getLong();
    }

    /** How many were acknowledged so far. */
    public long acknowledged() {
        return acknowledged.get();
    }

    /** Why a record was not acknowledged; null while all were. */
    public Exception failure() {
        return failure.get();
    }

    /** Sends no more; what was sent is still waited for. */
    public void stop() {
        stopping = true;
    }

    /** Completes when all that was sent was acknowledged or given up. */
    public CompletableFuture<Void> done() {
        return done;
    }

    @Override
    public void close() {
        stopping = true;
        producer.close(Duration.ZERO);
    }
}
