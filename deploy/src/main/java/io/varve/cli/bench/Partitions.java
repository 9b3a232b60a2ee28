package io.varve.cli.bench;

import java.util.List;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;

/** The partitions of the bench's topic. */
final class Partitions {

    private Partitions() {}

    static List<TopicPartition> of(KafkaConsumer<byte[], byte[]> consumer, BenchOptions options) {
        int partitions = consumer.partitionsFor(options.topic()).size();
        return IntStream.range(0, partitions)
                .mapToObj(index -> new TopicPartition(options.topic(), index))
                .toList();
    }
}
