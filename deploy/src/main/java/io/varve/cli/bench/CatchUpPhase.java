package io.varve.cli.bench;

import io.varve.cli.text.Progress;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** One consumer reads all there is from the start, as fast as it goes, and checks that no offset is skipped. */
final class CatchUpPhase {

    private final BenchOptions options;

    CatchUpPhase(BenchOptions options) {
        this.options = options;
    }

    BenchResult run(String name, String note) {
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                options.consumerConfig(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = Partitions.of(consumer, options);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            long records = ends.values().stream().mapToLong(Long::longValue).sum();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<Integer, Long> next = new TreeMap<>();
            partitions.forEach(partition -> next.put(partition.partition(), consumer.position(partition)));
            long missing = next.values().stream().mapToLong(Long::longValue).sum();

            long startNs = System.nanoTime();
            long deadlineNs = startNs + options.timeout().toNanos();
            long received = 0;
            long bytes = 0;
            try (Progress progress = Progress.of(name, OptionalLong.of(records - missing))) {
                while (received < records - missing) {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                        long expected = next.put(record.partition(), record.offset() + 1);
                        if (record.offset() != expected) {
                            throw new BenchFailure(
                                    "partition " + record.partition() + " went from offset " + expected + " to "
                                            + record.offset(),
                                    null);
                        }
                        bytes += record.value().length;
                        received++;
                        deadlineNs = System.nanoTime() + options.timeout().toNanos();
                    }
                    progress.to(received);
                    if (System.nanoTime() - deadlineNs > 0) {
                        throw new BenchFailure(
                                "nothing came for " + options.timeout() + " after " + received + " records", null);
                    }
                }
            }
            return BenchResult.withoutLatency(name, received, bytes, System.nanoTime() - startNs, note);
        }
    }
}
