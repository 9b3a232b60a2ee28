package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.cli.report.OffloadReport;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.itest.cluster.RawRequest;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.tiering.testing.PlainS3Server;
import io.varve.tiering.testing.PlainS3Server.Trouble;
import java.io.IOException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.Node;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.message.FetchRequestData;
import org.apache.kafka.common.message.FetchRequestData.FetchPartition;
import org.apache.kafka.common.message.FetchRequestData.FetchTopic;
import org.apache.kafka.common.message.FetchResponseData.FetchableTopicResponse;
import org.apache.kafka.common.message.FetchResponseData.PartitionData;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.FetchRequest;
import org.apache.kafka.common.requests.FetchResponse;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * Case C15 as readers meet it: a store that throttles, breaks off or refuses, and objects that are not what they were. Each is an error of the partition that it concerns and
 * of no other, nobody is given less than there is or led past it, and all is well once the store is.
 */
class StoreBadDaysIT {

    private static final String COLD = "cold";
    private static final String WARM = "warm";
    private static final TopicPartition PARTITION = new TopicPartition(COLD, 0);
    private static final int RECORDS = 12_000;
    private static final int VALUE_BYTES = 1_000;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final PatternRecords records = new PatternRecords(VALUE_BYTES);
    private ProcessCluster cluster;

    @Test
    void whateverTheStoreDoesReadersGetEveryRecordOnceItIsOver() throws Exception {
        try (PlainS3Server store = new PlainS3Server(true)) {
            cluster = clusters.start(shape(store));
            cluster.createTopic(
                    COLD, 1, Map.of("segment.bytes", "1048576", "retention.ms", "-1", "local.retention.bytes", "0"));
            cluster.createTopic(WARM, 1, Map.of());
            write(RECORDS);
            Await.until(
                    "nearly all is in object storage alone",
                    PATIENCE,
                    () -> coldObjects().size() + " objects, " + offloads(),
                    () -> coldObjects().size() >= 8);

            // The process that took the records has them in memory.
            cluster.broker(1).terminate();
            assertThat(cluster.broker(1).awaitExit(PATIENCE)).hasValue(0);
            ProcessCluster.awaitReady(cluster.launchBroker(1));

            damagedObjectsAreErrorsOfTheirPartitionAlone(store, coldObjects());
            for (Trouble trouble : List.of(
                    new Trouble.Answer(503, "SlowDown"),
                    new Trouble.Answer(500, "InternalError"),
                    new Trouble.Reset())) {
                store.often(30, trouble);
                readsAll();
                store.mend();
            }
            keysThatAreRefusedStopUploadsUntilTheyAreTakenAgain(store);
        }
    }

    private static ClusterShape shape(PlainS3Server store) {
        Map<String, String> config = StoreOutageIT.s3(store);
        // Less than there is to be read, so that each reader asks the store anew.
        config.put("tiering.cache.bytes", "4194304");
        return ClusterShape.of(1, 3, 1)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.bytes", "0")
                .withMetadata("metadata.offload.merge.bytes", "1")
                .withStore(config);
    }

    private void write(int count) throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", cluster.bootstrap()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (int number = 0; number < count; number++) {
                producer.send(new ProducerRecord<>(COLD, 0, null, records.value(number)));
            }
            producer.send(new ProducerRecord<>(WARM, 0, null, records.value(0)));
            producer.flush();
        }
    }

    private void damagedObjectsAreErrorsOfTheirPartitionAlone(PlainS3Server store, List<ObjectRef> objects)
            throws Exception {
        byte[] intact = store.content(keyIn(store, objects.get(1)));
        byte[] flipped = intact.clone();
        flipped[1_000] ^= 1;
        trouble(store, objects.get(1), Optional.of(flipped), "kind=CORRUPT");
        byte[] whole = store.content(keyIn(store, objects.get(2)));
        trouble(store, objects.get(2), Optional.of(Arrays.copyOf(whole, whole.length / 2)), "kind=CORRUPT");
        trouble(store, objects.get(3), Optional.empty(), "kind=MISSING");

        store.always(new Trouble.Answer(403, "AccessDenied"));
        assertTrouble(objects.get(4), "kind=FORBIDDEN");
        store.mend();
        assertReadable(objects.get(4));
    }

    private void trouble(PlainS3Server store, ObjectRef object, Optional<byte[]> instead, String alarm)
            throws Exception {
        String key = keyIn(store, object);
        byte[] intact = store.content(key);
        store.tamper(key, instead);
        assertTrouble(object, alarm);
        store.tamper(key, Optional.of(intact));
        assertReadable(object);
    }

    private static String keyIn(PlainS3Server store, ObjectRef object) {
        return store.keys().stream()
                .filter(key -> key.endsWith(object.key()))
                .findFirst()
                .orElseThrow();
    }

    private void assertTrouble(ObjectRef object, String alarm) throws Exception {
        FetchResponse answer = fetch(object.startOffset());
        PartitionData cold = of(answer, COLD);
        assertThat(Errors.forCode(cold.errorCode())).isEqualTo(Errors.KAFKA_STORAGE_ERROR);
        assertThat(FetchResponse.recordsSize(cold)).isZero();
        assertThat(Errors.forCode(of(answer, WARM).errorCode())).isEqualTo(Errors.NONE);
        Await.until(
                alarm + " is told",
                PATIENCE,
                () -> String.join("\n", cluster.broker(1).lastLines()),
                () -> cluster.broker(1).lastLines().stream()
                        .anyMatch(line ->
                                line.contains("event=object_") && line.contains(alarm) && line.contains(object.key())));
        try (KafkaConsumer<byte[], byte[]> reader = Members.of(cluster.bootstrap(), "none")) {
            reader.assign(List.of(PARTITION));
            reader.seek(PARTITION, object.startOffset());
            assertThat(reader.poll(Duration.ofSeconds(2)))
                    .as("nothing, and nothing beyond it")
                    .isEmpty();
            assertThat(reader.position(PARTITION)).isEqualTo(object.startOffset());
        }
    }

    /** At once: that it was otherwise is not remembered. */
    private void assertReadable(ObjectRef object) throws Exception {
        PartitionData cold = of(fetch(object.startOffset()), COLD);
        assertThat(Errors.forCode(cold.errorCode())).isEqualTo(Errors.NONE);
        assertThat(FetchResponse.recordsSize(cold)).isPositive();
        assertThat(FetchResponse.recordsOrFail(cold).batches().iterator().next().baseOffset())
                .isLessThanOrEqualTo(object.startOffset());
    }

    private void readsAll() {
        try (KafkaConsumer<byte[], byte[]> reader = Members.of(cluster.bootstrap(), "none")) {
            reader.assign(List.of(PARTITION));
            reader.seek(PARTITION, 0);
            long[] next = {0};
            Await.until("all records", PATIENCE, () -> next[0] + " of " + RECORDS, () -> {
                for (ConsumerRecord<byte[], byte[]> record : reader.poll(Duration.ofMillis(200))) {
                    assertThat(record.offset()).isEqualTo(next[0]);
                    records.check(next[0], record.value());
                    next[0]++;
                }
                return next[0] == RECORDS;
            });
        }
    }

    /** Nobody restarts anything: the status says why nothing is uploaded, and then it goes on. */
    private void keysThatAreRefusedStopUploadsUntilTheyAreTakenAgain(PlainS3Server store) throws Exception {
        store.rotateTo("another");
        write(4_000);
        Await.until(
                "the status says why",
                PATIENCE,
                () -> offloads().toString(),
                () -> offloads().errors().containsKey("FORBIDDEN"));
        store.rotateTo("any");
        Await.until(
                "all that is sealed is uploaded",
                PATIENCE,
                () -> offloads().toString(),
                () -> offloads().errors().isEmpty()
                        && chain().stream()
                                .noneMatch(segment ->
                                        segment.state() == SegmentDescriptor.State.SEALED && !segment.isOffloaded()));
    }

    private OffloadReport offloads() {
        return OffloadReport.of(cluster.view(), System.currentTimeMillis());
    }

    /** The objects of segments that no bookie holds any more. */
    private List<ObjectRef> coldObjects() {
        return chain().stream()
                .filter(segment -> segment.replicas().isEmpty())
                .map(SegmentDescriptor::object)
                .flatMap(Optional::stream)
                .toList();
    }

    private List<SegmentDescriptor> chain() {
        MetadataView view = cluster.view();
        Topic topic = view.topic(COLD).orElseThrow();
        return List.copyOf(view.partition(new PartitionId(topic.id(), 0))
                .orElseThrow()
                .chain()
                .segments());
    }

    /** One request for both topics, which waits for a byte as long as it takes. */
    private FetchResponse fetch(long coldOffset) throws Exception {
        FetchRequestData data = new FetchRequestData()
                .setReplicaId(-1)
                .setMaxWaitMs(60_000)
                .setMinBytes(1)
                .setMaxBytes(50_000_000)
                .setSessionEpoch(-1)
                .setTopics(List.of(asked(COLD, coldOffset), asked(WARM, 0)));
        return (FetchResponse) RawRequest.ask(broker(), new FetchRequest(data, (short) 11));
    }

    private static FetchTopic asked(String topic, long offset) {
        return new FetchTopic()
                .setTopic(topic)
                .setPartitions(List.of(new FetchPartition()
                        .setPartition(0)
                        .setFetchOffset(offset)
                        .setPartitionMaxBytes(1_000_000)));
    }

    private static PartitionData of(FetchResponse answer, String topic) throws IOException {
        for (FetchableTopicResponse of : answer.data().responses()) {
            if (of.topic().equals(topic)) {
                return of.partitions().get(0);
            }
        }
        throw new IOException("no answer for " + topic);
    }

    private Node broker() throws Exception {
        try (Admin admin = cluster.admin()) {
            return admin.describeCluster().controller().get(60, TimeUnit.SECONDS);
        }
    }
}
