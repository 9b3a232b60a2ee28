package io.varve.cli.bench;

import io.varve.cli.text.Progress;
import java.nio.ByteBuffer;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Writes through one stock producer and takes the time of every acknowledgement. */
final class ProducePhase {

    private final BenchOptions options;

    ProducePhase(BenchOptions options) {
        this.options = options;
    }

    BenchResult run() {
        Histogram micros = new ConcurrentHistogram(TimeUnit.MINUTES.toMicros(10), 3);
        AtomicLong acknowledged = new AtomicLong();
        AtomicReference<Exception> failure = new AtomicReference<>();
        long startNs = System.nanoTime();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                        options.producerConfig(), new ByteArraySerializer(), new ByteArraySerializer());
                Progress progress = Progress.of("produce", OptionalLong.of(options.records()))) {
            producer.partitionsFor(options.topic());
            startNs = System.nanoTime();
            Pace pace = new Pace(startNs, options.rate());
            byte[] filler = filler(options.valueBytes());
            for (long number = 0; number < options.records() && failure.get() == null; number++) {
                long dueNs = pace.await(number);
                int partition = (int) (number % options.partitions());
                producer.send(
                        new ProducerRecord<>(options.topic(), partition, null, value(filler, number, dueNs)),
                        (metadata, exception) -> {
                            if (exception != null) {
                                failure.compareAndSet(null, exception);
                            } else {
                                micros.recordValue((System.nanoTime() - dueNs) / 1_000);
                                acknowledged.incrementAndGet();
                            }
                        });
                if ((number & 0x3ff) == 0) {
                    progress.to(acknowledged.get());
                }
            }
            producer.flush();
            progress.to(acknowledged.get());
        }
        long nanos = System.nanoTime() - startNs;
        if (failure.get() != null) {
            throw new BenchFailure("A record was not acknowledged: " + failure.get(), failure.get());
        }
        return BenchResult.of(
                "produce", acknowledged.get(), acknowledged.get() * options.valueBytes(), nanos, micros, "");
    }

    /** Bytes that don't compress, so that what is measured is not the compressor. */
    static byte[] filler(int bytes) {
        byte[] filler = new byte[bytes];
        SplittableRandom random = new SplittableRandom(1);
        for (int at = 0; at < bytes; at++) {
            filler[at] = (byte) random.nextInt();
        }
        return filler;
    }

    static byte[] value(byte[] filler, long number, long dueNs) {
        byte[] value = filler.clone();
        ByteBuffer.wrap(value).putLong(number).putLong(dueNs);
        return value;
    }
}
