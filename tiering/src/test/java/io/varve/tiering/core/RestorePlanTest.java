package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.Roll;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.metadata.testing.StepClock;
import io.varve.protocol.meta.ManifestMarkProto;
import io.varve.protocol.meta.ManifestProto;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PartitionIdProto;
import io.varve.protocol.meta.PartitionRecord;
import io.varve.protocol.meta.TopicIdProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RestorePlanTest {

    private final InMemoryMetadata metadata = new InMemoryMetadata(new StepClock(1_000_000), 1).withBookies(3);
    private final MetadataClient client = metadata.newClient();
    private final Topic orders =
            client.createTopic("orders", 1, 3, Map.of("retention.ms", "-1")).join();
    private final PartitionId partition = new PartitionId(orders.id(), 0);
    private final TreeMap<PartitionId, List<HeldObject>> objects = new TreeMap<>();

    @Test
    void theChainIsMadeOfTheObjectsAndEverythingElseComesFromTheBackup() {
        object(partition, "orders", 1, 0, 100);
        object(partition, "orders", 2, 100, 150, 200);
        RestorePlan.Restored plan = plan(true);
        assertThat(plan.lost()).isEmpty();
        assertThat(plan.topics()).containsExactly(orders);
        RestoredPartition restored = plan.partitions().get(0);
        assertThat(restored.segments())
                .extracting(SegmentDescriptor::startOffset, SegmentDescriptor::endOffset)
                .containsExactly(tuple(0, 100), tuple(100, 150), tuple(150, 200));
        assertThat(restored.segments()).allSatisfy(segment -> {
            assertThat(segment.isOffloaded()).isTrue();
            assertThat(segment.replicas()).isEmpty();
        });
        assertThat(restored.epoch()).isGreaterThan(7);
        assertThat(restored.endOffset()).isEqualTo(200);
    }

    @Test
    void ofObjectsOfSeveralAttemptsEachSegmentIsTakenOnce() {
        object(partition, "orders", 1, 0, 100);
        object(partition, "orders", 2, 0, 100, 200);
        object(partition, "orders", 3, 100, 200, 300);
        assertThat(plan(true).partitions().get(0).segments())
                .extracting(
                        SegmentDescriptor::startOffset,
                        s -> s.object().orElseThrow().attemptId())
                .containsExactly(tuple(0, 2), tuple(100, 3), tuple(200, 3));
    }

    @Test
    void whatCompactionMadeOfSegmentsIsTakenInTheirPlaceHoweverManyOfThemAreStillThere() {
        object(partition, "orders", 1, 0, 100);
        object(partition, "orders", 2, 100, 200);
        object(partition, "orders", 3, 200, 300);
        object(partition, "orders", 4, List.of(new ObjectFooter.Segment(new SegmentId(1_000), 7, 0, 200, 50, 5, 1, 2)));
        for (int inputsLeft = 2; inputsLeft >= 0; inputsLeft--) {
            RestorePlan.Restored plan = plan(true);
            assertThat(plan.lost()).isEmpty();
            assertThat(plan.partitions().get(0).segments())
                    .extracting(SegmentDescriptor::startOffset, SegmentDescriptor::endOffset)
                    .containsExactly(tuple(0, 200), tuple(200, 300));
            if (inputsLeft > 0) {
                objects.get(partition).remove(0);
            }
        }
    }

    @Test
    void beforeAGapNothingCanBeReadAndThatIsSaid() {
        object(partition, "orders", 1, 0, 100);
        object(partition, "orders", 2, 150, 200);
        RestorePlan.Restored plan = plan(true);
        assertThat(plan.partitions().get(0).logStartOffset()).isEqualTo(150);
        assertThat(plan.partitions().get(0).segments()).hasSize(1);
        assertThat(plan.lost()).anyMatch(line -> line.startsWith("orders-0: offsets 100 to 149 are in no object"));
    }

    @Test
    void whatLiesBelowTheStartOfTheLogStaysDeleted() {
        roll(partition, 0, 100, 200);
        client.advanceLogStart(
                        partition,
                        metadata.view().partition(partition).orElseThrow().epoch(),
                        120)
                .join();
        object(partition, "orders", 1, 0, 100);
        object(partition, "orders", 2, 100, 200);
        RestoredPartition restored = plan(true).partitions().get(0);
        assertThat(restored.logStartOffset()).isEqualTo(120);
        assertThat(restored.segments())
                .extracting(SegmentDescriptor::startOffset)
                .containsExactly(100L);
    }

    @Test
    void whatWasSealedAndNotOffloadedIsSaidToBeLostAndItsOffsetsAreNotGivenOutAgainIfNothingIsLeft() {
        roll(partition, 0, 100, 200);
        RestorePlan.Restored plan = plan(true);
        assertThat(plan.partitions().get(0).endOffset()).isEqualTo(200);
        assertThat(plan.partitions().get(0).logStartOffset()).isEqualTo(200);
        assertThat(plan.lost()).anyMatch(line -> line.startsWith("orders-0: offsets 0 to 199 are in no object"));

        object(partition, "orders", 1, 0, 100);
        assertThat(plan(true).lost())
                .containsExactly(
                        "orders-0: offsets 100 to 199 were written before the backup was taken, and are in no object");
    }

    @Test
    void aManifestThatIsThereIsUsedAndTheLogStartsWhereItsObjectsDo() {
        MetadataView backup = metadata.image().replay(withManifest(partition, "root", 0, 200));
        object(partition, "orders", 1, 100, 150);
        object(partition, "orders", 2, 150, 200);
        object(partition, "orders", 3, 200, 260);
        RestoredPartition restored = plan(backup, new TreeMap<>(Map.of(partition, 100L)))
                .partitions()
                .get(0);
        assertThat(restored.manifest()).isPresent();
        assertThat(restored.logStartOffset())
                .as("what retention took since is gone")
                .isEqualTo(100);
        assertThat(restored.segments())
                .extracting(SegmentDescriptor::startOffset)
                .containsExactly(200L);
        assertThat(restored.endOffset()).isEqualTo(260);

        RestoredPartition without = plan(backup, new TreeMap<>()).partitions().get(0);
        assertThat(without.manifest()).isEmpty();
        assertThat(without.segments())
                .extracting(SegmentDescriptor::startOffset)
                .containsExactly(100L, 150L, 200L);
    }

    @Test
    void aManifestWhoseObjectsAreAllGoneIsNotUsed() {
        MetadataView backup = metadata.image().replay(withManifest(partition, "root", 0, 200));
        object(partition, "orders", 3, 200, 260);
        RestoredPartition restored = plan(backup, new TreeMap<>(Map.of(partition, 200L)))
                .partitions()
                .get(0);
        assertThat(restored.manifest()).isEmpty();
        assertThat(restored.logStartOffset()).isEqualTo(200);
    }

    private RestorePlan.Restored plan(MetadataView backup, TreeMap<PartitionId, Long> manifestsFrom) {
        return RestorePlan.of(new RestorePlan.Found(Optional.of(backup), objects, manifestsFrom, 3, 2));
    }

    /** A backup's record of a partition with a manifest. */
    private static MetadataRecord withManifest(PartitionId id, String key, long start, long end) {
        return MetadataRecord.newBuilder()
                .setPartition(PartitionRecord.newBuilder()
                        .setId(PartitionIdProto.newBuilder()
                                .setTopic(TopicIdProto.newBuilder()
                                        .setHigh(id.topic().high())
                                        .setLow(id.topic().low()))
                                .setIndex(id.index()))
                        .setOwner(-1)
                        .setManifest(ManifestProto.newBuilder()
                                .setKey(key)
                                .setGeneration(1)
                                .setStartOffset(start)
                                .setEndOffset(end)
                                .setSegments(2)
                                .setLength(100)
                                .addMarks(ManifestMarkProto.newBuilder().setOffset(end))))
                .build();
    }

    @Test
    void withoutABackupTopicsComeBackByNameAndIdWithDefaults() {
        PartitionId other = new PartitionId(new TopicId(5, 6), 2);
        object(partition, "orders", 1, 0, 100);
        object(other, "clicks", 2, 40, 50);
        RestorePlan.Restored plan = plan(false);
        assertThat(plan.topics()).extracting(Topic::name).containsExactlyInAnyOrder("orders", "clicks");
        assertThat(plan.topics().stream().filter(t -> t.name().equals("clicks")))
                .singleElement()
                .satisfies(topic -> {
                    assertThat(topic.id()).isEqualTo(other.topic());
                    assertThat(topic.partitions()).isEqualTo(3);
                });
        assertThat(plan.partitions()).hasSize(4);
        assertThat(plan.lost()).anyMatch(line -> line.contains("topic clicks") && line.contains("no backup knows it"));
    }

    @Test
    void aDeletedTopicDoesNotComeBackAndANameIsGivenOnce() {
        Topic deleted = client.createTopic("gone", 1, 3, Map.of()).join();
        roll(new PartitionId(deleted.id(), 0), 0, 10);
        client.deleteTopic(deleted.id()).join();
        PartitionId twin = new PartitionId(new TopicId(7, 8), 0);
        object(new PartitionId(deleted.id(), 0), "gone", 1, 0, 10);
        object(twin, "orders", 2, 0, 10);
        RestorePlan.Restored plan = plan(true);
        assertThat(plan.topics()).containsExactly(orders);
        assertThat(plan.lost()).singleElement().asString().contains("topic orders", "not restored");
    }

    private RestorePlan.Restored plan(boolean withBackup) {
        return RestorePlan.of(new RestorePlan.Found(
                withBackup ? Optional.of(metadata.view()) : Optional.empty(), objects, new TreeMap<>(), 3, 2));
    }

    private static org.assertj.core.groups.Tuple tuple(long a, long b) {
        return org.assertj.core.api.Assertions.tuple(a, b);
    }

    /** @param bounds of the segments in it */
    private void object(PartitionId id, String topic, long attempt, long... bounds) {
        List<ObjectFooter.Segment> segments = new ArrayList<>();
        for (int i = 0; i + 1 < bounds.length; i++) {
            segments.add(new ObjectFooter.Segment(
                    new SegmentId(bounds[i] + 1), 7, bounds[i], bounds[i + 1], 1_000, 5, 1, 2));
        }
        object(id, topic, attempt, segments);
    }

    private void object(PartitionId id, String topic, long attempt, List<ObjectFooter.Segment> segments) {
        long start = segments.get(0).startOffset();
        long end = segments.get(segments.size() - 1).endOffset();
        ObjectRef ref = new ObjectRef("key-" + id + "-" + attempt, attempt, 2_000, 0, start, end, 5);
        objects.computeIfAbsent(id, p -> new ArrayList<>()).add(new HeldObject(ref, topic, segments));
    }

    private void roll(PartitionId partition, long... bounds) {
        int epoch = metadata.view().partition(partition).orElseThrow().epoch();
        SegmentId open = null;
        for (long bound : bounds) {
            SegmentDescriptor next =
                    client.allocateSegment(partition, epoch, bound, Set.of()).join();
            Set<BookieId> holders = Set.of(new BookieId(1), new BookieId(2), new BookieId(3));
            Optional<Seal> seal =
                    open == null ? Optional.empty() : Optional.of(new Seal(open, bound, 1_000, -1, holders));
            client.roll(new Roll(partition, epoch, seal, next.id())).join();
            open = next.id();
        }
    }
}
