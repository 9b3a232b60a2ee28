package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** What a fresh stock consumer reads from offset 0 to the end, and how it compares with what was acknowledged. */
public final class ReadBack {

    private final long[][] records;
    private final List<String> twice = new ArrayList<>();

    /** @param records the record at each offset of each partition, 0 where there is none */
    ReadBack(long[][] records) {
        this.records = records;
    }

    /**
     * Reads a topic from the start of each partition to where it ends now.
     *
     * @throws AssertionError if nothing came for {@code patience}
     */
    public static ReadBack of(String bootstrap, String topic, int partitions, Duration patience) {
        ReadBack read = new ReadBack(new long[partitions][]);
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", bootstrap);
        config.put("enable.auto.commit", false);
        config.put("auto.offset.reset", "none");
        config.put("default.api.timeout.ms", (int) patience.toMillis());
        List<TopicPartition> all = IntStream.range(0, partitions)
                .mapToObj(index -> new TopicPartition(topic, index))
                .toList();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long left = 0;
            for (TopicPartition partition : all) {
                read.records[partition.partition()] = new long[Math.toIntExact(ends.get(partition))];
                left += ends.get(partition);
            }
            long deadlineNs = System.nanoTime() + patience.toNanos();
            while (left > 0) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
                    left -= read.enter(record) ? 1 : 0;
                    deadlineNs = System.nanoTime() + patience.toNanos();
                }
                assertThat(System.nanoTime() - deadlineNs)
                        .as("%d records never came, nothing for %s", left, patience)
                        .isNegative();
            }
        }
        return read;
    }

    private boolean enter(ConsumerRecord<byte[], byte[]> record) {
        long[] partition = records[record.partition()];
        if (record.offset() >= partition.length) {
            return false; // written after the ends were asked for
        }
        if (partition[(int) record.offset()] != 0) {
            twice.add("offset " + record.offset() + " of partition " + record.partition() + " came twice");
            return false;
        }
        partition[(int) record.offset()] = NumberedProducer.record(record.value());
        return true;
    }

    /** How many records there are. */
    public long count() {
        return Arrays.stream(records).mapToLong(partition -> partition.length).sum();
    }

    /** I-1, I-2: every acknowledged record is there, at its offset. */
    public ReadBack containsAllOf(AckLog acks) {
        List<String> missing = new ArrayList<>();
        for (int partition = 0; partition < records.length; partition++) {
            for (long offset = 0; offset < acks.end(partition); offset++) {
                long expected = acks.at(partition, offset);
                long found = offset < records[partition].length ? records[partition][(int) offset] : 0;
                if (expected != 0 && expected != found && missing.size() < 20) {
                    missing.add("partition " + partition + " offset " + offset + ": record " + expected
                            + " was acknowledged, " + (found == 0 ? "nothing" : "record " + found) + " is there");
                }
            }
        }
        assertThat(missing)
                .as("acknowledged records that are missing or replaced")
                .isEmpty();
        assertThat(twice).as("records delivered twice").isEmpty();
        return this;
    }

    /** Nothing is there but what was acknowledged, and no offset went to anything else (I-16). */
    public ReadBack isExactly(AckLog acks) {
        containsAllOf(acks);
        assertThat(count()).as("records read back, against those acknowledged").isEqualTo(acks.count());
        return this;
    }

    /** No record is there twice, and those of one producer stand in the order in which it sent them. */
    public ReadBack hasNoDuplicatesAndKeepsOrder(long producerStride) {
        TreeSet<Long> doubles = new TreeSet<>();
        List<String> disorder = new ArrayList<>();
        for (int partition = 0; partition < records.length; partition++) {
            Map<Long, Long> lastOf = new TreeMap<>();
            for (long record : records[partition]) {
                Long last = lastOf.put(record / producerStride, record);
                if (last != null && last == record) {
                    doubles.add(record);
                } else if (last != null && last > record) {
                    disorder.add("partition " + partition + ": record " + record + " after " + last);
                }
            }
        }
        assertThat(doubles).as("records that are there twice").isEmpty();
        assertThat(disorder).as("records out of order").isEmpty();
        return this;
    }
}
