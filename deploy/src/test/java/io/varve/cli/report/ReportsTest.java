package io.varve.cli.report;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.Roll;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.InMemoryMetadata;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.Uuid;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The reports, on a cluster of three bookies and a broker with one topic, of the real state machine. */
class ReportsTest {

    private final StoppedClock clock = new StoppedClock();
    private static final long NOW_MS = StoppedClock.WALL_MS + 90_000;

    private final InMemoryMetadata metadata = new InMemoryMetadata(clock, 1).withBookies(3);
    private final MetadataClient client = metadata.newClient();
    private Topic topic;

    @BeforeEach
    void aBrokerOwnsATopicOfTwoPartitions() {
        client.registerBroker(new BrokerInfo(
                        1,
                        11,
                        "rack-a",
                        List.of(new BrokerInfo.Endpoint("PLAINTEXT", "PLAINTEXT", "localhost", 9092)),
                        BrokerInfo.State.LIVE))
                .join();
        topic = client.createTopic("events", 2, 3, Map.of("segment.bytes", "1048576"))
                .join();
    }

    @Test
    void theClusterReportCountsNodesPartitionsAndOwners() {
        ClusterReport report = ClusterReport.of(metadata.view(), List.of(), NOW_MS);

        assertThat(report.clusterId()).isEqualTo("test");
        assertThat(report.brokers())
                .containsExactly(new ClusterReport.BrokerRow(
                        1, "LIVE", "b", "rack-a", List.of("PLAINTEXT://localhost:9092"), 2));
        assertThat(report.bookies()).extracting(ClusterReport.BookieRow::id).containsExactly(1, 2, 3);
        assertThat(report.topics()).isEqualTo(1);
        assertThat(report.partitions()).isEqualTo(2);
        assertThat(report.partitionsWithoutOwner()).isZero();
    }

    @Test
    void partitionsOfADeadBrokerHaveNoOwner() {
        metadata.expireBroker(1, 11);
        ClusterReport report = ClusterReport.of(metadata.view(), List.of(), NOW_MS);
        assertThat(report.partitionsWithoutOwner()).isEqualTo(2);
        assertThat(report.brokers()).extracting(ClusterReport.BrokerRow::state).containsExactly("GONE");
    }

    @Test
    void aSealedSegmentIsToBeOffloadedAndAnOpenOneIsNot() {
        sealFirstSegment(100, 5_000);

        ClusterReport cluster = ClusterReport.of(metadata.view(), List.of(), NOW_MS);
        assertThat(cluster.segments()).isEqualTo(2);
        assertThat(cluster.segmentsToOffload()).isEqualTo(1);
        assertThat(cluster.bytesToOffload()).isEqualTo(5_000);
        assertThat(cluster.segmentsUnderReplicated()).isZero();

        SegmentsReport segments = SegmentsReport.of(topic, metadata.view());
        assertThat(segments.segments())
                .extracting(
                        SegmentsReport.SegmentRow::state,
                        SegmentsReport.SegmentRow::start,
                        SegmentsReport.SegmentRow::end,
                        SegmentsReport.SegmentRow::tier)
                .containsExactly(tuple("SEALED", 0L, 100L, "bookies"), tuple("OPEN", 100L, -1L, "bookies"));
        assertThat(segments.table().lines()).hasSize(3);

        TopicReport.PartitionRow row =
                TopicReport.of(topic, metadata.view()).partitions().get(0);
        assertThat(row.sealedEnd()).isEqualTo(100);
        assertThat(row.localBytes()).isEqualTo(5_000);
        assertThat(row.objectBytes()).isZero();
        assertThat(row.writtenTo()).containsExactlyInAnyOrder(1, 2, 3);
    }

    @Test
    void aSegmentWithACopyOnADeadBookieIsUnderReplicated() {
        sealFirstSegment(100, 5_000);
        metadata.expireBookie(new BookieId(2), 102);

        ClusterReport cluster = ClusterReport.of(metadata.view(), List.of(), NOW_MS);
        assertThat(cluster.segmentsUnderReplicated()).isEqualTo(2);
        assertThat(cluster.bookies())
                .extracting(
                        ClusterReport.BookieRow::state,
                        ClusterReport.BookieRow::goneSinceMs,
                        ClusterReport.BookieRow::replicaBytes)
                .containsExactly(
                        tuple("WRITABLE", -1L, 5_000L),
                        tuple("GONE", 1_700_000_000_000L, 5_000L),
                        tuple("WRITABLE", -1L, 5_000L));
        assertThat(TopicReport.of(topic, metadata.view()).partitions())
                .extracting(TopicReport.PartitionRow::underReplicated)
                .containsExactly(2L, 0L);
    }

    @Test
    void aTopicThatIsNotTieredHasNoBacklog() {
        client.alterTopicConfigs(topic.id(), Map.of("remote.storage.enable", Optional.of("false")))
                .join();
        sealFirstSegment(100, 5_000);
        assertThat(ClusterReport.of(metadata.view(), List.of(), NOW_MS).segmentsToOffload())
                .isZero();
    }

    /** S27: for each partition, why its oldest segment is still local alone. */
    @Test
    void whatWaitsForObjectStorageIsToldWithItsAgeAndWhyItWaits() {
        sealFirstSegment(100, 5_000);

        OffloadReport idle = OffloadReport.of(metadata.view(), NOW_MS);
        assertThat(idle)
                .extracting(
                        OffloadReport::segments, OffloadReport::bytes, OffloadReport::oldestMs, OffloadReport::paused)
                .containsExactly(1L, 5_000L, 90_000L, false);
        assertThat(idle.partitions())
                .extracting(OffloadReport.PartitionRow::reason)
                .containsExactly("waits for its turn, or for more to go with it");

        client.alterTopicConfigs(topic.id(), Map.of("remote.log.copy.disable", Optional.of("true")))
                .join();
        assertThat(OffloadReport.of(metadata.view(), NOW_MS).partitions().get(0).reason())
                .isEqualTo("uploads are paused for the topic");

        client.alterBrokerConfigs(Optional.empty(), Map.of("tiering.upload.pause", Optional.of("true")))
                .join();
        OffloadReport paused = OffloadReport.of(metadata.view(), NOW_MS);
        assertThat(paused.paused()).isTrue();
        assertThat(paused.partitions().get(0).reason()).isEqualTo("uploads are paused for the cluster");
    }

    /** The same bytes whether a segment's object or a manifest's says so, and an id that both the bucket's keys and Kafka's tools are found by. */
    @Test
    void whatObjectStorageHoldsIsSummedUp() {
        sealFirstSegment(100, 5_000);
        assertThat(ClusterReport.of(metadata.view(), List.of(), NOW_MS).bytesInObjects())
                .isZero();
        clock.wallMs += 120_000;
        metadata.plan();
        BookieTask.Offload upload =
                (BookieTask.Offload) metadata.view().tasks().iterator().next();
        String key = ObjectKeys.segment(metadata.view().bucketId(), upload.partition(), 0, upload.taskId());
        client.commitOffload(upload.taskId(), new ObjectRef(key, upload.taskId(), 4_000, 1, 0, 100, -1))
                .join();

        ClusterReport report = ClusterReport.of(metadata.view(), List.of(), NOW_MS);
        assertThat(report.bytesInObjects()).isEqualTo(5_000);
        assertThat(report.segmentsToOffload()).isZero();
        TopicReport described = TopicReport.of(topic, metadata.view());
        assertThat(described.partitions().get(0).objectBytes()).isEqualTo(5_000);
        assertThat(Uuid.fromString(described.kafkaId()))
                .isEqualTo(new Uuid(topic.id().high(), topic.id().low()));
        assertThat(described.id()).isEqualTo(topic.id().toString());
    }

    @Test
    void anUploadThatFailedIsToldByTheClassOfItsError() {
        sealFirstSegment(100, 5_000);
        clock.wallMs += 120_000;
        metadata.plan();
        var upload = metadata.view().tasks().iterator().next();
        assertThat(OffloadReport.of(metadata.view(), NOW_MS).partitions().get(0).reason())
                .startsWith("is being uploaded by bookie ");

        client.failTask(upload.taskId(), "UNREACHABLE: connection refused").join();
        OffloadReport report = OffloadReport.of(metadata.view(), clock.wallMs);
        assertThat(report.errors())
                .containsExactly(
                        Map.entry("UNREACHABLE", new OffloadReport.ErrorRow(1, "UNREACHABLE: connection refused")));
        assertThat(report.partitions().get(0).reason())
                .isEqualTo("failed 1 times, again in 1 s: UNREACHABLE: connection refused");
    }

    /** S3: local copies stay, and whoever looks is told which object is missing, for as long as it is. */
    @Test
    void anObjectThatIsMissingIsToldUntilItIsThere() {
        client.alterTopicConfigs(topic.id(), Map.of("local.retention.ms", Optional.of("1000")))
                .join();
        sealFirstSegment(100, 5_000);
        clock.wallMs += 120_000;
        metadata.plan();
        BookieTask.Offload upload = (BookieTask.Offload) only(metadata.view().tasks());
        String key = ObjectKeys.segment("test", upload.partition(), 0, upload.taskId());
        client.commitOffload(upload.taskId(), new ObjectRef(key, upload.taskId(), 500, 1, 0, 100, -1))
                .join();
        clock.wallMs += 120_000;
        metadata.plan();
        assertThat(metadata.view().tasks()).hasSize(3);
        metadata.view()
                .tasks()
                .forEach(order -> client.failTask(order.taskId(), "MISSING: " + key + " is not in the bucket")
                        .join());
        OffloadReport report = OffloadReport.of(metadata.view(), clock.wallMs);
        OffloadReport.AlarmRow alarm = new OffloadReport.AlarmRow(
                "object_missing", "events-0", key, 1, "MISSING: " + key + " is not in the bucket");
        assertThat(report.alarms()).containsExactly(alarm);
        assertThat(ClusterReport.of(metadata.view(), List.of(), clock.wallMs).alarms())
                .containsExactly(alarm);

        clock.wallMs += 1_200_000;
        metadata.plan();
        metadata.view()
                .tasks()
                .forEach(order -> client.completeTask(order.taskId()).join());
        assertThat(OffloadReport.of(metadata.view(), clock.wallMs).alarms()).isEmpty();
    }

    private static <T> T only(Collection<T> all) {
        assertThat(all).hasSize(1);
        return all.iterator().next();
    }

    @Test
    void aReplicaThatIsNotConfirmedIsShownInParentheses() {
        sealFirstSegment(100, 5_000, Set.of(new BookieId(1), new BookieId(3)));
        SegmentsReport segments = SegmentsReport.of(topic, metadata.view());
        assertThat(segments.segments().get(0).unconfirmed()).containsExactly(2);
        assertThat(segments.table().lines().get(1)).containsAnyOf("1,3,(2)", "3,1,(2)");
    }

    private void sealFirstSegment(long end, long bytes) {
        sealFirstSegment(end, bytes, Set.of(new BookieId(1), new BookieId(2), new BookieId(3)));
    }

    private void sealFirstSegment(long end, long bytes, Set<BookieId> holders) {
        PartitionId partition = new PartitionId(topic.id(), 0);
        PartitionState state = metadata.view().partition(partition).orElseThrow();
        SegmentDescriptor first =
                client.allocateSegment(partition, state.epoch(), 0, Set.of()).join();
        client.roll(new Roll(partition, state.epoch(), Optional.empty(), first.id()))
                .join();
        SegmentDescriptor second =
                client.allocateSegment(partition, state.epoch(), end, Set.of()).join();
        client.roll(new Roll(
                        partition,
                        state.epoch(),
                        Optional.of(new Seal(first.id(), end, bytes, -1, holders)),
                        second.id()))
                .join();
    }

    private static final class StoppedClock implements Clock {
        static final long WALL_MS = 1_700_000_000_000L;
        private long wallMs = WALL_MS;

        @Override
        public long nanoTime() {
            return 0;
        }

        @Override
        public long wallTimeMs() {
            return wallMs;
        }
    }
}
