package io.varve.itest.kafka;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.itest.cluster.RawRequest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.StreamSupport;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListOffsetsResult.ListOffsetsResultInfo;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderPartition;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderTopic;
import org.apache.kafka.common.message.OffsetForLeaderEpochRequestData.OffsetForLeaderTopicCollection;
import org.apache.kafka.common.message.OffsetForLeaderEpochResponseData.EpochEndOffset;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.requests.AbstractRequest;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochRequest;
import org.apache.kafka.common.requests.OffsetsForLeaderEpochResponse;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * What clients are told must be the same when records are in object storage alone: epochs (C3 of the user reports), offsets by time (C4.3), the limits of
 * a fetch (C5.7), and the newest of each key (C6.8).
 */
class TieredProtocolIT {

    private static final Duration PATIENCE = Duration.ofMinutes(3);
    private static final int LARGE = 4 << 20;

    /** Sealed at once, offloaded at once, and then dropped by the bookies. */
    private static final Map<String, String> COLD = Map.of(
            "segment.ms", "300", "local.retention.ms", "1", "retention.ms", "-1", "max.message.bytes", "10000000");

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private ProcessCluster cluster;

    @Test
    void whatIsInObjectStorageAloneIsAnsweredAsIfItWereHere() throws Exception {
        cluster = clusters.start(ClusterShape.of(1, 3, 2)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "300"));
        cluster.createTopic("times", 1, COLD);
        cluster.createTopic("large", 1, COLD);
        Map<String, String> compact = new TreeMap<>(COLD);
        compact.put("cleanup.policy", "compact");
        cluster.createTopic("keys", 1, compact);

        List<Long> stamps = List.of(2L, 4L, 6L, 8L);
        for (long stamp : stamps) {
            write("times", List.of(record("times", stamp, "k", "v")));
        }
        write(
                "times",
                List.of(record("times", 50, "k", "v"), record("times", 90, "k", "v"), record("times", 70, "k", "v")));
        for (int bytes : List.of(LARGE, 1_024, LARGE)) {
            write("large", List.of(record("large", 1, "k", "x".repeat(bytes))));
        }
        Map<String, String> live = writeKeys();
        int first = epochOf("times");
        for (String topic : List.of("times", "large", "keys")) {
            Await.until("all of " + topic + " is in object storage alone", PATIENCE, () -> isAllCold(topic));
        }

        aFetchIsLimitedAsEverywhere();
        assertThat(newestOfKeys()).isEqualTo(live);
        offsetsByTimeAreFoundInAllTiers();
        epochsEndWhereTheyDid(first);
    }

    /** C5.7: a batch that is larger than the limit comes alone, and each batch with the one request for it. */
    private void aFetchIsLimitedAsEverywhere() throws Exception {
        for (long offset = 0; offset < 3; offset++) {
            List<RecordBatch> batches = fetch("large", offset);
            assertThat(batches)
                    .singleElement()
                    .satisfies(batch -> assertThat(batch.sizeInBytes()).isGreaterThan(1_000));
            assertThat(batches.get(0).baseOffset()).isEqualTo(offset);
        }
    }

    /** C4.3: a few more records, which are not in object storage yet. */
    private void offsetsByTimeAreFoundInAllTiers() throws Exception {
        assertThat(offset("times", OffsetSpec.latestTiered())).isEqualTo("6@-1");
        write("times", List.of(record("times", 40, "k", "v")));
        Map<Long, String> expected = new TreeMap<>(Map.of(
                1L, "0@2", 2L, "0@2", 3L, "1@4", 4L, "1@4", 5L, "2@6", 7L, "3@8", 8L, "3@8", 9L, "4@50", 60L, "5@90",
                91L, "-1@-1"));
        Map<Long, String> found = new TreeMap<>();
        for (long time : expected.keySet()) {
            found.put(time, offset("times", OffsetSpec.forTimestamp(time)));
        }
        assertThat(found).isEqualTo(expected);
        assertThat(offset("times", OffsetSpec.maxTimestamp())).isEqualTo("5@90");
        assertThat(offset("times", OffsetSpec.earliest())).isEqualTo("0@-1");
    }

    /** C3: the same epochs end at the same offsets, also at the broker that owns the partition next. */
    private void epochsEndWhereTheyDid(int first) throws Exception {
        cluster.broker(cluster.ownerOf("times", 0)).terminate();
        Await.until("another owner", PATIENCE, () -> epochOf("times") > first);
        write("times", List.of(record("times", 45, "k", "v")));
        assertThat(endOf("times", first)).isEqualTo(first + " ends at 8");
        int current = epochOf("times");
        assertThat(endOf("times", current)).isEqualTo(current + " ends at 9");
        assertThat(endOf("times", current + 1)).isEqualTo("-1 ends at -1");
    }

    private Map<String, String> writeKeys() {
        Map<String, String> live = new TreeMap<>();
        try (KafkaProducer<String, String> producer = producer()) {
            for (int i = 0; i < 2_000; i++) {
                String value = i % 7 == 0 ? "" : "v" + i;
                producer.send(record("keys", i, "k" + i % 100, value));
                live.put("k" + i % 100, value);
            }
            for (int key = 0; key < 50; key++) {
                producer.send(record("keys", 1, "k" + key, null));
                live.remove("k" + key);
            }
        }
        return live;
    }

    private Map<String, String> newestOfKeys() {
        Map<String, String> newest = new TreeMap<>();
        TopicPartition partition = new TopicPartition("keys", 0);
        try (KafkaConsumer<String, String> consumer = new KafkaConsumer<>(
                Map.of("bootstrap.servers", cluster.bootstrap(), "enable.auto.commit", "false"),
                new StringDeserializer(),
                new StringDeserializer())) {
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            Await.until("the end of the keys", PATIENCE, () -> {
                for (ConsumerRecord<String, String> record : consumer.poll(Duration.ofMillis(200))) {
                    if (record.value() == null) {
                        newest.remove(record.key());
                    } else {
                        newest.put(record.key(), record.value());
                    }
                }
                return consumer.position(partition) >= end;
            });
        }
        return newest;
    }

    /** Whether the first offset that bookies hold is the end of the log. */
    private boolean isAllCold(String topic) {
        try {
            return offset(topic, OffsetSpec.earliestLocal()).equals(offset(topic, OffsetSpec.latest()));
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static ProducerRecord<String, String> record(String topic, long stampMs, String key, String value) {
        return new ProducerRecord<>(topic, 0, stampMs, key, value);
    }

    /** All in one batch. */
    private void write(String topic, List<ProducerRecord<String, String>> records) {
        try (KafkaProducer<String, String> producer = producer()) {
            records.forEach(producer::send);
        }
    }

    private KafkaProducer<String, String> producer() {
        return new KafkaProducer<>(
                Map.of(
                        "bootstrap.servers", cluster.bootstrap(),
                        "linger.ms", "1000",
                        "max.request.size", "10000000",
                        "buffer.memory", "64000000"),
                new StringSerializer(),
                new StringSerializer());
    }

    private String offset(String topic, OffsetSpec spec) throws Exception {
        TopicPartition partition = new TopicPartition(topic, 0);
        try (Admin admin = cluster.admin()) {
            ListOffsetsResultInfo found = admin.listOffsets(Map.of(partition, spec))
                    .all()
                    .get(60, TimeUnit.SECONDS)
                    .get(partition);
            return found.offset() + "@" + found.timestamp();
        }
    }

    // ---- what no client library asks for by itself

    private Node owner(String topic) throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get(60, TimeUnit.SECONDS)
                    .get(topic)
                    .partitions()
                    .get(0)
                    .leader();
        }
    }

    private int epochOf(String topic) {
        try (Admin admin = cluster.admin()) {
            TopicPartition partition = new TopicPartition(topic, 0);
            return admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .all()
                    .get(60, TimeUnit.SECONDS)
                    .get(partition)
                    .leaderEpoch()
                    .orElse(-1);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private String endOf(String topic, int epoch) throws Exception {
        OffsetForLeaderTopicCollection topics = new OffsetForLeaderTopicCollection();
        topics.add(new OffsetForLeaderTopic()
                .setTopic(topic)
                .setPartitions(
                        List.of(new OffsetForLeaderPartition().setPartition(0).setLeaderEpoch(epoch))));
        AbstractRequest request =
                OffsetsForLeaderEpochRequest.Builder.forConsumer(topics).build((short) 4);
        EpochEndOffset end = ((OffsetsForLeaderEpochResponse) RawRequest.ask(owner(topic), request))
                .data()
                .topics()
                .find(topic)
                .partitions()
                .get(0);
        return end.leaderEpoch() + " ends at " + end.endOffset();
    }

    private List<RecordBatch> fetch(String topic, long offset) throws Exception {
        FetchRequestData data = new FetchRequestData()
                .setReplicaId(-1)
                .setMaxWaitMs(60_000)
                .setMinBytes(1)
                .setMaxBytes(1)
                .setSessionEpoch(-1)
                .setTopics(List.of(new FetchRequestData.FetchTopic()
                        .setTopic(topic)
                        .setPartitions(List.of(new FetchRequestData.FetchPartition()
                                .setPartition(0)
                                .setFetchOffset(offset)
                                .setPartitionMaxBytes(1)))));
        FetchResponse answer = (FetchResponse) RawRequest.ask(owner(topic), new FetchRequest(data, (short) 11));
        Iterable<? extends RecordBatch> batches = FetchResponse.recordsOrFail(
                        answer.data().responses().get(0).partitions().get(0))
                .batches();
        return StreamSupport.stream(batches.spliterator(), false)
                .map(batch -> (RecordBatch) batch)
                .toList();
    }
}
