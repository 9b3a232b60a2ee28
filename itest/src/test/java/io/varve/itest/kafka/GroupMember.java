package io.varve.itest.kafka;

import java.io.IOException;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * One member of a consumer group, as a program of its own, so that it can run with the client library of any age: only what kafka-clients
 * has had since 2.0 is used. Prints {@code assigned N} after each rebalance, and {@code record PARTITION OFFSET} for each record once its
 * offset is committed. Leaves the group when its standard input ends.
 */
public final class GroupMember {

    private GroupMember() {}

    /** @param arguments bootstrap servers, group, topic, and {@code key=value} for the consumer */
    public static void main(String[] arguments) throws IOException {
        Map<String, Object> config = new TreeMap<>();
        config.put("bootstrap.servers", arguments[0]);
        config.put("group.id", arguments[1]);
        config.put("enable.auto.commit", "false");
        config.put("auto.offset.reset", "earliest");
        config.put("max.poll.records", "200");
        for (int at = 3; at < arguments.length; at++) {
            String[] pair = arguments[at].split("=", 2);
            config.put(pair[0], pair[1]);
        }
        AtomicBoolean leaving = new AtomicBoolean();
        Thread watcher = new Thread(() -> awaitEndOfInput(leaving), "input-watch");
        watcher.setDaemon(true);
        watcher.start();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            consumer.subscribe(List.of(arguments[2]), new PrintAssignments(consumer));
            while (!leaving.get()) {
                ConsumerRecords<byte[], byte[]> records = consumer.poll(Duration.ofMillis(100));
                if (!records.isEmpty()) {
                    consumer.commitSync();
                    print(records);
                }
            }
        }
        System.out.println("left");
    }

    private static void print(ConsumerRecords<byte[], byte[]> records) {
        StringBuilder lines = new StringBuilder();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            lines.append("record ")
                    .append(record.partition())
                    .append(' ')
                    .append(record.offset())
                    .append('\n');
        }
        System.out.print(lines);
        System.out.flush();
    }

    private static void awaitEndOfInput(AtomicBoolean leaving) {
        try {
            while (System.in.read() >= 0) {
                // Whatever is written there means nothing.
            }
        } catch (IOException e) {
            // As good as its end.
        }
        leaving.set(true);
    }

    private record PrintAssignments(KafkaConsumer<byte[], byte[]> consumer) implements ConsumerRebalanceListener {

        @Override
        public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
            // Everything polled is committed before the next poll: nothing is pending here.
        }

        @Override
        public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
            System.out.println("assigned " + consumer.assignment().size());
        }
    }
}
