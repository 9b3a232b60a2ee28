package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Case C13 (S1): a log most of which is in object storage changes its owner, and a group that lags far behind reads on where it was. */
class TieredOwnerChangeIT {

    private static final String TOPIC = "tiered";
    private static final String GROUP = "laggards";
    private static final TopicPartition PARTITION = new TopicPartition(TOPIC, 0);
    private static final int RECORDS = 30_000;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final AckLog acks = new AckLog(1);

    @Test
    void aGroupFarBehindReadsOnAfterEveryChangeOfOwnerAndOnlyWhatWasDeletedIsOutOfRange() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 3)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "300")
                .withBroker("offsets.topic.num.partitions", "1"));
        cluster.createTopic(
                TOPIC, 1, Map.of("segment.bytes", "262144", "retention.ms", "-1", "local.retention.bytes", "262144"));
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(1, RECORDS, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
        Await.until(
                "most of it is in object storage alone",
                PATIENCE,
                () -> "first local offset " + localStart(cluster) + " of " + RECORDS,
                () -> localStart(cluster) > RECORDS / 2);
        try (KafkaConsumer<byte[], byte[]> member = Members.of(cluster.bootstrap(), GROUP)) {
            member.assign(List.of(PARTITION));
            member.commitSync(Map.of(PARTITION, new OffsetAndMetadata(5)));
        }

        int first = cluster.ownerOf(TOPIC, 0);
        cluster.broker(first).terminate();
        assertThat(cluster.broker(first).awaitExit(PATIENCE)).hasValue(0);
        readsOn(cluster, 5, 2_000);

        int second = cluster.ownerOf(TOPIC, 0);
        assertThat(second).isNotEqualTo(first);
        cluster.broker(second).kill();
        readsOn(cluster, 2_005, 2_000);

        for (int broker : new TreeSet<>(List.of(1, 2, 3))) {
            cluster.broker(broker).kill();
        }
        ProcessCluster.awaitReady(cluster.launchBroker(second));
        readsOn(cluster, 4_005, 2_000);

        onlyWhatWasDeletedIsOutOfRange(cluster);
    }

    /** The group gets the very next record, and all after it. */
    private void readsOn(ProcessCluster cluster, long from, int count) throws Exception {
        try (Admin admin = cluster.admin()) {
            assertThat(earliest(admin)).isZero();
        }
        try (KafkaConsumer<byte[], byte[]> member = Members.of(cluster.bootstrap(), GROUP)) {
            member.assign(List.of(PARTITION));
            long[] next = {from};
            Await.until(count + " records from " + from + " on", PATIENCE, () -> "position " + next[0], () -> {
                for (ConsumerRecord<byte[], byte[]> record : member.poll(Duration.ofMillis(200))) {
                    assertThat(record.offset()).isEqualTo(next[0]);
                    assertThat(NumberedProducer.record(record.value())).isEqualTo(acks.at(0, record.offset()));
                    next[0]++;
                }
                return next[0] >= from + count;
            });
            member.commitSync(Map.of(PARTITION, new OffsetAndMetadata(from + count)));
        }
    }

    private void onlyWhatWasDeletedIsOutOfRange(ProcessCluster cluster) throws Exception {
        try (KafkaConsumer<byte[], byte[]> reader = Members.of(cluster.bootstrap(), GROUP);
                Admin admin = cluster.admin()) {
            reader.assign(List.of(PARTITION));
            reader.seek(PARTITION, 6_005);
            Await.until(
                    "the first records",
                    PATIENCE,
                    () -> !reader.poll(Duration.ofMillis(200)).isEmpty());
            admin.deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(20_000)))
                    .all()
                    .get(60, TimeUnit.SECONDS);
            int[] outOfRange = {0};
            long[] next = {-1};
            Await.until(
                    "the reader goes on at the new start",
                    PATIENCE,
                    () -> "position " + next[0] + ", " + outOfRange[0] + " times out of range",
                    () -> {
                        try {
                            for (ConsumerRecord<byte[], byte[]> record : reader.poll(Duration.ofMillis(200))) {
                                if (record.offset() >= 20_000) {
                                    assertThat(next[0] < 0 ? 20_000 : next[0]).isEqualTo(record.offset());
                                    next[0] = record.offset() + 1;
                                }
                            }
                        } catch (OffsetOutOfRangeException deleted) {
                            outOfRange[0]++;
                            try {
                                reader.seek(PARTITION, earliest(admin));
                            } catch (Exception e) {
                                throw new AssertionError(e);
                            }
                        }
                        return next[0] >= acks.end(0);
                    });
            assertThat(outOfRange[0]).as("told once").isEqualTo(1);
        }
    }

    private static long earliest(Admin admin) throws Exception {
        return admin.listOffsets(Map.of(PARTITION, OffsetSpec.earliest()))
                .all()
                .get(60, TimeUnit.SECONDS)
                .get(PARTITION)
                .offset();
    }

    /** Where what bookies hold begins. */
    private static long localStart(ProcessCluster cluster) {
        MetadataView view = cluster.view();
        Topic topic = view.topic(TOPIC).orElseThrow();
        return view.partition(new PartitionId(topic.id(), 0)).orElseThrow().chain().segments().stream()
                .filter(segment -> !segment.replicas().isEmpty())
                .mapToLong(SegmentDescriptor::startOffset)
                .findFirst()
                .orElse(0);
    }
}
