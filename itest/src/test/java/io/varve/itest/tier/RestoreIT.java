package io.varve.itest.tier;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.base.StartupException.Reason;
import io.varve.cli.process.ChildProcess;
import io.varve.itest.cluster.AckLog;
import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ChainText;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.CommandRun;
import io.varve.itest.cluster.NumberedProducer;
import io.varve.itest.cluster.ProcessCluster;
import io.varve.itest.cluster.ReadBack;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A cluster that lost everything but its bucket is made again from it. */
class RestoreIT {

    private static final String KEPT = "kept";
    private static final String ON_BOOKIES_ONLY = "young";
    private static final String GROUP = "readers";
    private static final String OFFSETS = "__consumer_offsets";
    private static final int RECORDS = 20_000;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final TopicPartition FIRST = new TopicPartition(KEPT, 0);
    private static final TopicPartition SECOND = new TopicPartition(KEPT, 1);
    private static final TopicPartition YOUNG = new TopicPartition(ON_BOOKIES_ONLY, 0);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private final AckLog acks = new AckLog(2);

    @Test
    void everythingButTheBucketIsDestroyedAndRecordsConfigurationsAndGroupsComeBack() throws Exception {
        loseAndRestore(clusters.start(shape()), false);
    }

    /** Records and commits that only manifests describe come back like others. */
    @Test
    void whatOnlyManifestsDescribeComesBack() throws Exception {
        loseAndRestore(clusters.start(shape().withMetadata("metadata.manifest.segments.min", "1")), true);
    }

    private void loseAndRestore(ProcessCluster cluster, boolean inManifests) throws Exception {
        String topicId = fill(cluster, inManifests ? "0" : "-2");
        awaitOffloadedAndBackedUp(cluster, inManifests);
        String lostId = cluster.view().clusterId();

        cluster.killAll();
        for (int id = 1; id <= 3; id++) {
            deleteAll(Path.of(cluster.layout().bookie(id).get("bookie.data.dirs")));
        }
        Path metadata = Path.of(cluster.layout().metadata(1).get("metadata.data.dir"));
        deleteAll(metadata);

        CommandRun dry = CommandRun.of(
                "restore", "--dry-run", "--from", "file:" + cluster.layout().bucket());
        assertThat(dry.exitCode()).as(dry.output()).isZero();
        assertThat(dry.output())
                .contains("group " + GROUP + ": committed offset 100 of young-0", "Nothing was changed")
                .doesNotContain("restored into");
        CommandRun restore = restore(cluster, metadata);
        assertThat(restore.exitCode()).as(restore.output()).isZero();
        assertThat(restore.output())
                .contains("of cluster " + lostId, "group " + GROUP + ": committed offset 100 of young-0", "set to 0")
                .doesNotContain(KEPT + "-0:", KEPT + "-1:");
        CommandRun again = restore(cluster, metadata);
        assertThat(again.exitCode()).as(again.output()).isEqualTo(Reason.DIRECTORY_FOREIGN.exitCode());
        restoreAgainAfterAKill(cluster, metadata);

        cluster.startAll();
        assertThat(cluster.view().clusterId()).isNotEqualTo(lostId);
        assertThat(cluster.view().bucketId()).isEqualTo(lostId);
        assertIsAsItWas(cluster, topicId);
        assertTheGroupGoesOn(cluster);
        assertTheLostClusterIsRefused(cluster);
    }

    /** As a kill leaves it after the bucket's mark was written, and before that was noted. */
    private void restoreAgainAfterAKill(ProcessCluster cluster, Path metadata) throws Exception {
        Files.createFile(metadata.resolve("restore.unfinished"));
        ChildProcess node = cluster.launchMetadata(1);
        assertThat(node.awaitExit(PATIENCE)).hasValue(Reason.DIRECTORY_FOREIGN.exitCode());
        assertThat(String.join("\n", node.lastLines())).contains("did not end", "varve restore --into " + metadata);
        CommandRun resumed = restore(cluster, metadata);
        assertThat(resumed.exitCode()).as(resumed.output()).isZero();
    }

    private static ClusterShape shape() {
        return ClusterShape.of(1, 3, 1)
                .withMetadata("metadata.offload.delay.ms", "100")
                .withMetadata("metadata.offload.small.wait.ms", "300")
                .withBookie("tiering.backup.interval.ms", "1000")
                .withBroker("offsets.topic.num.partitions", "2");
    }

    /** @return the kept topic's id */
    private String fill(ProcessCluster cluster, String localRetentionBytes) throws Exception {
        cluster.createTopic(
                KEPT,
                2,
                Map.of(
                        "segment.bytes", "262144",
                        "segment.ms", "2000",
                        "retention.ms", "-1",
                        "local.retention.bytes", localRetentionBytes));
        cluster.createTopic(ON_BOOKIES_ONLY, 1, Map.of());
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), KEPT, 100, acks, PATIENCE)) {
            producer.start(1, RECORDS, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
        AckLog young = new AckLog(1);
        try (NumberedProducer producer =
                new NumberedProducer(cluster.bootstrap(), ON_BOOKIES_ONLY, 100, young, PATIENCE)) {
            producer.start(1, 100, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        commit(cluster, Map.of(FIRST, new OffsetAndMetadata(1)));
        try (Admin admin = cluster.admin()) {
            ConfigResource offsets = new ConfigResource(ConfigResource.Type.TOPIC, OFFSETS);
            admin.incrementalAlterConfigs(Map.of(
                            offsets,
                            List.of(
                                    new AlterConfigOp(new ConfigEntry("segment.ms", "500"), AlterConfigOp.OpType.SET),
                                    new AlterConfigOp(
                                            new ConfigEntry("local.retention.bytes", localRetentionBytes),
                                            AlterConfigOp.OpType.SET))))
                    .all()
                    .get(60, TimeUnit.SECONDS);
            commit(
                    cluster,
                    Map.of(
                            FIRST,
                            new OffsetAndMetadata(5_000),
                            SECOND,
                            new OffsetAndMetadata(acks.end(1)),
                            YOUNG,
                            new OffsetAndMetadata(100)));
            return admin.describeTopics(List.of(KEPT))
                    .allTopicNames()
                    .get(60, TimeUnit.SECONDS)
                    .get(KEPT)
                    .topicId()
                    .toString();
        }
    }

    private static void commit(ProcessCluster cluster, Map<TopicPartition, OffsetAndMetadata> offsets) {
        try (KafkaConsumer<byte[], byte[]> member = Members.of(cluster.bootstrap(), GROUP)) {
            member.assign(offsets.keySet());
            member.commitSync(offsets);
        }
    }

    private void awaitOffloadedAndBackedUp(ProcessCluster cluster, boolean inManifests) throws Exception {
        Await.until("all of the topic is offloaded", PATIENCE, () -> seen(cluster, KEPT), () -> {
            MetadataView view = cluster.view();
            Topic topic = view.topic(KEPT).orElseThrow();
            return offloadedEnd(view, topic, 0) == acks.end(0) && offloadedEnd(view, topic, 1) == acks.end(1);
        });
        try (Admin admin = cluster.admin()) {
            Await.until("the commits are offloaded", PATIENCE, () -> seen(cluster, OFFSETS), () -> {
                MetadataView view = cluster.view();
                Topic topic = view.topic(OFFSETS).orElseThrow();
                for (int index = 0; index < topic.partitions(); index++) {
                    if (offloadedEnd(view, topic, index) < end(admin, index)) {
                        return false;
                    }
                }
                return true;
            });
        }
        if (inManifests) {
            Await.until(
                    "all of that is in manifests",
                    PATIENCE,
                    () -> seen(cluster, KEPT) + "\n" + seen(cluster, OFFSETS),
                    () -> isInManifests(cluster));
        }
        long version = cluster.view().version();
        Await.until(
                "a backup of version " + version,
                PATIENCE,
                () -> "version " + newestBackup(cluster),
                () -> newestBackup(cluster) >= version);
    }

    /** Of each partition all but the last object, whose last segment stays where a takeover finds it; and something at all. */
    private static boolean isInManifests(ProcessCluster cluster) {
        MetadataView view = cluster.view();
        boolean hasManifest = false;
        for (String name : List.of(KEPT, OFFSETS)) {
            for (PartitionState partition :
                    view.partitions(view.topic(name).orElseThrow().id())) {
                long objects = partition.chain().segments().stream()
                        .filter(s -> s.state() == SegmentDescriptor.State.SEALED)
                        .map(SegmentDescriptor::object)
                        .distinct()
                        .count();
                if (objects > 1) {
                    return false;
                }
                hasManifest |= partition.chain().manifest().isPresent();
            }
        }
        return hasManifest;
    }

    private static long end(Admin admin, int index) {
        TopicPartition partition = new TopicPartition(OFFSETS, index);
        try {
            return admin.listOffsets(Map.of(partition, OffsetSpec.latest()))
                    .all()
                    .get(60, TimeUnit.SECONDS)
                    .get(partition)
                    .offset();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private static String seen(ProcessCluster cluster, String topic) {
        MetadataView view = cluster.view();
        return ChainText.of(view, topic, 0, SegmentDescriptor::isOffloaded) + "\n"
                + ChainText.of(view, topic, 1, SegmentDescriptor::isOffloaded);
    }

    private static long offloadedEnd(MetadataView view, Topic topic, int index) {
        SegmentChain chain =
                view.partition(new PartitionId(topic.id(), index)).orElseThrow().chain();
        long end = chain.manifest().map(ManifestRef::endOffset).orElse(0L);
        for (SegmentDescriptor segment : chain.segments()) {
            end = segment.isOffloaded() ? segment.endOffset() : end;
        }
        return end;
    }

    /** The version in the name of the newest one. */
    private static long newestBackup(ProcessCluster cluster) {
        try (Stream<Path> files = Files.walk(cluster.layout().bucket())) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".meta"))
                    .mapToLong(name -> Long.parseLong(name.substring(21, 41)))
                    .max()
                    .orElse(-1);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private CommandRun restore(ProcessCluster cluster, Path metadata) throws IOException {
        return CommandRun.ofProcess(
                clusters.directory(),
                "restore",
                "--from",
                "file:" + cluster.layout().bucket(),
                "--into",
                metadata.toString());
    }

    private void assertIsAsItWas(ProcessCluster cluster, String topicId) throws Exception {
        ReadBack.of(cluster.bootstrap(), KEPT, 2, PATIENCE).isExactly(acks);
        try (Admin admin = cluster.admin()) {
            var described = admin.describeTopics(List.of(KEPT, ON_BOOKIES_ONLY))
                    .allTopicNames()
                    .get(60, TimeUnit.SECONDS);
            assertThat(described.get(KEPT).topicId()).hasToString(topicId);
            ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, KEPT);
            assertThat(admin.describeConfigs(List.of(resource))
                            .all()
                            .get(60, TimeUnit.SECONDS)
                            .get(resource)
                            .get("segment.bytes")
                            .value())
                    .isEqualTo("262144");
            assertThat(admin.listConsumerGroupOffsets(GROUP)
                            .partitionsToOffsetAndMetadata()
                            .get(60, TimeUnit.SECONDS))
                    .hasEntrySatisfying(FIRST, o -> assertThat(o.offset()).isEqualTo(5_000))
                    .hasEntrySatisfying(SECOND, o -> assertThat(o.offset()).isEqualTo(acks.end(1)))
                    .hasEntrySatisfying(YOUNG, o -> assertThat(o.offset()).isZero());
        }
    }

    private void assertTheGroupGoesOn(ProcessCluster cluster) throws Exception {
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), KEPT, 100, acks, PATIENCE)) {
            producer.start(RECORDS + 1, 2_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
        ReadBack.of(cluster.bootstrap(), KEPT, 2, PATIENCE).isExactly(acks);
        long wanted = acks.end(0) - 5_000 + 1_000;
        try (KafkaConsumer<byte[], byte[]> member = Members.of(cluster.bootstrap(), GROUP)) {
            member.subscribe(List.of(KEPT));
            long[] got = {0};
            long[] first = {Long.MAX_VALUE};
            Await.until("the group reads on", PATIENCE, () -> got[0] + " of " + wanted, () -> {
                member.poll(Duration.ofMillis(200)).forEach(record -> {
                    got[0]++;
                    first[0] = record.partition() == 0 ? Math.min(first[0], record.offset()) : first[0];
                });
                return got[0] >= wanted;
            });
            assertThat(first[0]).isEqualTo(5_000);
            assertThat(got[0]).isEqualTo(wanted);
        }
    }

    /** What is left of the lost cluster, or any other cluster, can't use the prefix. */
    private void assertTheLostClusterIsRefused(ProcessCluster cluster) throws Exception {
        String bucket = cluster.layout().bucket().toString();
        ProcessCluster other = clusters.prepare(ClusterShape.of(1, 1, 1)
                .withBookie("tiering.local.dir", bucket)
                .withBroker("tiering.local.dir", bucket));
        ProcessCluster.awaitReady(other.launchMetadata(1));
        ChildProcess broker = other.launchBroker(1);
        assertThat(broker.awaitExit(PATIENCE)).hasValue(Reason.NO_BUCKET.exitCode());
        assertThat(String.join("\n", broker.lastLines())).contains("belongs to cluster");
        ChildProcess bookie = other.launchBookie(1);
        assertThat(bookie.awaitExit(PATIENCE)).hasValue(Reason.NO_BUCKET.exitCode());
        assertThat(String.join("\n", bookie.lastLines())).contains("belongs to cluster");
    }

    private static void deleteAll(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
