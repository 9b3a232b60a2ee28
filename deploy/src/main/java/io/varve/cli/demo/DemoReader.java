package io.varve.cli.demo;

import io.varve.cli.text.Progress;
import java.time.Duration;
import java.util.List;
import java.util.OptionalLong;
import java.util.Properties;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a topic from offset 0 to its end through the stock consumer, into a ledger. */
final class DemoReader {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private DemoReader() {}

    /** @return what is there now */
    static Ledger read(String bootstrap, String topic, int partitions) {
        Properties config = new Properties();
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "none");
        Ledger ledger = new Ledger(partitions);
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(index -> new TopicPartition(topic, index))
                .toList();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            long records = consumer.endOffsets(all).values().stream()
                    .mapToLong(Long::longValue)
                    .sum();
            consumer.assign(all);
            all.forEach(partition -> consumer.seek(partition, 0));
            long deadlineNs = System.nanoTime() + PATIENCE.toNanos();
            try (Progress progress = Progress.of("reading", OptionalLong.of(records))) {
                while (ledger.count() < records) {
                    for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                        ledger.enter(record.partition(), record.offset(), record.key(), record.value());
                        deadlineNs = System.nanoTime() + PATIENCE.toNanos();
                    }
                    progress.to(ledger.count());
                    if (System.nanoTime() - deadlineNs > 0) {
                        throw new DemoFailure("nothing came for " + PATIENCE.toSeconds() + " s after " + ledger.count()
                                + " of " + records + " records");
                    }
                }
            }
        }
        return ledger;
    }
}
