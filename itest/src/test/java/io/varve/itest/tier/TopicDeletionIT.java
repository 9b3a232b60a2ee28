package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ChainText;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.SegmentDescriptor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** S5, C16.4: a topic is deleted while one of its owners is dead, and everything dies before its objects are gone. They go all the same, and other topics' stay. */
class TopicDeletionIT {

    private static final String DELETED = "deleted";
    private static final String KEPT = "kept";
    private static final int PARTITIONS = 4;
    private static final int RECORDS = 20_000;
    /** For how long an object stays that nothing names any more: longer than it takes to kill everything. */
    private static final String GRACE_MS = "10000";

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void theObjectsOfADeletedTopicGoThroughTheDeathOfEverything() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 2)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "300"));
        cluster.set(new ConfigResource(ConfigResource.Type.BROKER, ""), "metadata.object.grace.ms", GRACE_MS);
        fill(cluster, DELETED);
        fill(cluster, KEPT);
        String deleted = idOf(cluster, DELETED);
        String kept = idOf(cluster, KEPT);
        Await.until(
                "both are offloaded",
                PATIENCE,
                () -> seen(cluster),
                () -> objectsOf(cluster, deleted) > 5 && objectsOf(cluster, kept) > 5);

        cluster.broker(2).kill();
        try (Admin admin = cluster.admin()) {
            admin.deleteTopics(List.of(DELETED)).all().get(60, TimeUnit.SECONDS);
        }
        cluster.killAll();
        assertThat(objectsOf(cluster, deleted)).as("left when everything died").isPositive();
        cluster.startAll();

        Await.until(
                "the deleted topic's objects are gone",
                PATIENCE,
                () -> objectsOf(cluster, deleted) + " left, " + seen(cluster),
                () -> objectsOf(cluster, deleted) == 0);
        assertThat(objectsOf(cluster, kept)).isPositive();
        assertThat(cluster.view().topic(DELETED)).isEmpty();
        deletedRecordsLeaveTheBucket(cluster, kept);
    }

    /** Those of one partition: its objects go, and nobody else's (I-11). */
    private static void deletedRecordsLeaveTheBucket(ProcessCluster cluster, String topicId) throws Exception {
        TopicPartition first = new TopicPartition(KEPT, 0);
        try (Admin admin = cluster.admin()) {
            long end = admin.listOffsets(Map.of(first, OffsetSpec.latest()))
                    .all()
                    .get(60, TimeUnit.SECONDS)
                    .get(first)
                    .offset();
            assertThat(objectsOf(cluster, topicId + "/0/")).isPositive();
            admin.deleteRecords(Map.of(first, RecordsToDelete.beforeOffset(end)))
                    .all()
                    .get(60, TimeUnit.SECONDS);
            Await.until(
                    "the deleted records' objects are gone",
                    PATIENCE,
                    () -> objectsOf(cluster, topicId + "/0/") + " left, " + seen(cluster),
                    () -> objectsOf(cluster, topicId + "/0/") == 0);
            assertThat(objectsOf(cluster, topicId + "/1/")).isPositive();
        }
    }

    private static void fill(ProcessCluster cluster, String topic) throws Exception {
        cluster.createTopic(topic, PARTITIONS, Map.of("segment.bytes", "131072", "retention.ms", "-1"));
        AckLog acks = new AckLog(PARTITIONS);
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), topic, 100, acks, PATIENCE)) {
            producer.start(1, RECORDS, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
    }

    private static String seen(ProcessCluster cluster) {
        MetadataView view = cluster.view();
        return "condemned " + view.condemned().size() + " partitions, replaced " + view.replacedObjects() + "\n"
                + ChainText.of(view, KEPT, 0, SegmentDescriptor::isOffloaded);
    }

    private static String idOf(ProcessCluster cluster, String topic) {
        return cluster.view().topic(topic).orElseThrow().id().toString();
    }

    private static long objectsOf(ProcessCluster cluster, String topicId) {
        Path bucket = cluster.layout().bucket();
        try (Stream<Path> files = Files.walk(bucket)) {
            return files.filter(file -> bucket.relativize(file).toString().contains(topicId))
                    .filter(Files::isRegularFile)
                    .count();
        } catch (IOException | java.io.UncheckedIOException goneMeanwhile) {
            return Long.MAX_VALUE;
        }
    }
}
