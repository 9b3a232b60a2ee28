package io.varve.cli.bench;

import io.varve.cli.text.Progress;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** A steady stream through a producer to a consumer at the tail: the time from when a record was due to when the consumer has it. */
final class TailPhase {

    private final BenchOptions options;

    TailPhase(BenchOptions options) {
        this.options = options;
    }

    BenchResult run() {
        long records = options.tailRate() * options.tail().toMillis() / 1_000;
        Histogram micros = new Histogram(TimeUnit.MINUTES.toMicros(10), 3);
        AtomicReference<Exception> failure = new AtomicReference<>();
        long startNs = System.nanoTime();
        long received = 0;
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                options.consumerConfig(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            var partitions = Partitions.of(consumer, options);
            consumer.assign(partitions);
            consumer.seekToEnd(partitions);
            partitions.forEach(consumer::position);
            Thread writer = new Thread(() -> write(records, failure), "bench-writer");
            writer.setDaemon(true);
            startNs = System.nanoTime();
            long deadlineNs = startNs + options.tail().plus(options.timeout()).toNanos();
            writer.start();
            try (Progress progress = Progress.of("tail", OptionalLong.of(records))) {
                while (received < records && failure.get() == null) {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                        long dueNs = ByteBuffer.wrap(record.value()).getLong(Long.BYTES);
                        micros.recordValue(Math.max(0, System.nanoTime() - dueNs) / 1_000);
                        received++;
                    }
                    progress.to(received);
                    if (System.nanoTime() - deadlineNs > 0) {
                        throw new BenchFailure(received + " of " + records + " records came before the time-out", null);
                    }
                }
            }
        }
        if (failure.get() != null) {
            throw new BenchFailure("A record was not acknowledged: " + failure.get(), failure.get());
        }
        long nanos = System.nanoTime() - startNs;
        return BenchResult.of(
                "tail", received, received * options.valueBytes(), nanos, micros, "end to end, at the rate asked for");
    }

    private void write(long records, AtomicReference<Exception> failure) {
        var config = options.producerConfig();
        config.putIfAbsent("linger.ms", "0");
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(config, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.partitionsFor(options.topic());
            Pace pace = new Pace(System.nanoTime(), options.tailRate());
            byte[] filler = ProducePhase.filler(options.valueBytes());
            for (long number = 0; number < records && failure.get() == null; number++) {
                long dueNs = pace.await(number);
                int partition = (int) (number % options.partitions());
                producer.send(
                        new ProducerRecord<>(
                                options.topic(), partition, null, ProducePhase.value(filler, number, dueNs)),
                        (metadata, exception) -> {
                            if (exception != null) {
                                failure.compareAndSet(null, exception);
                            }
                        });
            }
        } catch (RuntimeException e) {
            failure.compareAndSet(null, e);
        }
    }
}
