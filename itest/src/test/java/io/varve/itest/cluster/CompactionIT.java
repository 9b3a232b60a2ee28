package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.cli.link.MetadataLink;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * I-1, I-2, I-8 with real processes: a topic is compacted while it is written to, its owner and a bookie are killed meanwhile, and what a stock consumer reads from offset 0 is what was acknowledged, at the offsets at
 * which it was, with the newest of each key among it.
 */
class CompactionIT {

    private static final String TOPIC = "latest";
    private static final int KEYS = 100;
    private static final int RECORDS = 60_000;
    private static final int SEGMENT_BYTES = 256 * 1024;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    /** What was acknowledged, by offset. */
    private final ConcurrentSkipListMap<Long, String> acknowledged = new ConcurrentSkipListMap<>();

    @Test
    void aTopicIsCompactedThroughTheDeathOfItsOwnerAndOfABookie() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 2).withBroker("log.cleaner.backoff.ms", "100"));
        try (MetadataLink link = MetadataLink.open(cluster.layout().metadataNodes(), PATIENCE)) {
            cluster.createTopic(
                    TOPIC,
                    1,
                    Map.of(
                            "cleanup.policy",
                            "compact",
                            "segment.bytes",
                            Integer.toString(SEGMENT_BYTES),
                            "min.cleanable.dirty.ratio",
                            "0.01"));
            write(cluster, 0, RECORDS / 2);
            Await.until(
                    "something is compacted",
                    PATIENCE,
                    () -> partition(link).chain().segments().stream().anyMatch(SegmentDescriptor::isCompacted));
            cluster.bookie(2).kill();
            cluster.broker(cluster.ownerOf(TOPIC, 0)).kill();
            write(cluster, RECORDS / 2, RECORDS);
            cluster.launchBookie(2);

            Await.until("all but the end is compacted", PATIENCE, () -> sealedBytes(link) < 3 * SEGMENT_BYTES);
            assertReadsRight(cluster);
            Await.until(
                    "inputs are deleted from bookies",
                    PATIENCE,
                    () -> link.client().view().tasks().stream().noneMatch(BookieTask.DeleteReplica.class::isInstance));

            cluster.broker(cluster.ownerOf(TOPIC, 0)).kill();
            cluster.launchBroker(1);
            cluster.launchBroker(2);
            assertReadsRight(cluster);
        }
    }

    private static PartitionState partition(MetadataLink link) {
        MetadataView view = link.client().view();
        return view.partitions(view.topic(TOPIC).orElseThrow().id()).iterator().next();
    }

    private static long sealedBytes(MetadataLink link) {
        return partition(link).chain().segments().stream()
                .filter(segment -> segment.state() == SegmentDescriptor.State.SEALED)
                .mapToLong(SegmentDescriptor::bytes)
                .sum();
    }

    private static String key(int number) {
        return "key-" + number % KEYS;
    }

    private void write(ProcessCluster cluster, int from, int to) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", cluster.bootstrap());
        config.put("delivery.timeout.ms", 120_000);
        config.put("request.timeout.ms", 10_000);
        config.put("batch.size", 8 * 1024);
        List<Exception> failures = new ArrayList<>();
        try (KafkaProducer<String, String> producer =
                new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int i = from; i < to; i++) {
                String value = i + "-" + "x".repeat(150);
                producer.send(new ProducerRecord<>(TOPIC, key(i), value), (metadata, failure) -> {
                    if (failure == null) {
                        acknowledged.put(metadata.offset(), value);
                    } else {
                        failures.add(failure);
                    }
                });
            }
            producer.flush();
        }
        assertThat(failures).isEmpty();
    }

    private void assertReadsRight(ProcessCluster cluster) {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", cluster.bootstrap());
        config.put("enable.auto.commit", false);
        TopicPartition partition = new TopicPartition(TOPIC, 0);
        TreeMap<Long, String> read = new TreeMap<>();
        TreeMap<String, Long> newest = new TreeMap<>();
        try (KafkaConsumer<String, String> consumer =
                new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seek(partition, 0);
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            assertThat(end).as("offsets are what they were").isGreaterThan(acknowledged.lastKey());
            long deadline = System.nanoTime() + PATIENCE.toNanos();
            while (consumer.position(partition) < end && System.nanoTime() < deadline) {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofSeconds(1))) {
                    read.put(record.offset(), record.value());
                    newest.put(record.key(), record.offset());
                }
            }
            assertThat(consumer.position(partition)).isGreaterThanOrEqualTo(end);
        }
        read.forEach((offset, value) -> assertThat(acknowledged).as("I-2").containsEntry(offset, value));
        assertThat(read.size()).as("most is gone").isLessThan(RECORDS / 5);
        TreeMap<String, Long> expected = new TreeMap<>();
        acknowledged.forEach((offset, value) ->
                expected.put(key(Integer.parseInt(value.substring(0, value.indexOf('-')))), offset));
        assertThat(newest).as("I-1 the newest of each key").isEqualTo(expected);
    }
}
