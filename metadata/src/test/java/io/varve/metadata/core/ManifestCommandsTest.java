package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.Alarm;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BookieTask.BuildManifest;
import io.varve.metadata.model.BookieTask.DeleteObject;
import io.varve.metadata.model.BookieTask.DeleteReplica;
import io.varve.metadata.model.BookieTask.PruneManifest;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.DeleteTopicCommand;
import io.varve.protocol.meta.DropLocalStep;
import io.varve.protocol.meta.FailTaskCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.PlanCommand;
import io.varve.protocol.meta.PlanStep;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A chain's old end leaves Raft for a manifest, without a gap (I-8), and leaves the manifest again when retention says so (I-11). */
class ManifestCommandsTest {

    private static final long DAY_MS = 86_400_000;

    private final Cluster cluster = Cluster.of(4);
    private final ModelManifests manifests = new ModelManifests("c");

    {
        cluster.settings =
                new PlannerSettings(1_000, 256 << 20, 0, 0, 600_000, 300_000, 30_000, 600_000, 4, 2, 32, 4, 2, 600_000);
    }

    private PartitionId partition(String... configs) {
        return new PartitionId(cluster.topic("t", 1, 3, configs), 0);
    }

    /** Seals segments of ten offsets, each an object of its own, from which local copies are gone; and one more, which stays in the chain before the open one. */
    private void history(PartitionId partition, int from, int count) {
        if (from == 0) {
            cluster.rolled(partition, 0);
        }
        for (int i = from == 0 ? 1 : from + 2; i <= from + count + 1; i++) {
            cluster.rolled(partition, i * 10L);
            cluster.nowMs += 2_000;
            cluster.offloadAll();
        }
        cluster.nowMs += 61_000;
        cluster.plan();
        cluster.tasks(DeleteReplica.class).forEach(cluster::complete);
    }

    private PartitionId withManifest(int segments, String... configs) {
        PartitionId partition = partition(configs);
        history(partition, 0, segments);
        build();
        assertThat(manifest(partition)).isPresent();
        return partition;
    }

    private void build() {
        cluster.plan();
        cluster.tasks(BuildManifest.class).forEach(task -> cluster.done(manifests.built(task, cluster.image())));
    }

    private void prune() {
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        cluster.tasks(PruneManifest.class).forEach(task -> cluster.done(manifests.pruned(task)));
    }

    private Optional<ManifestRef> manifest(PartitionId partition) {
        return cluster.partition(partition).chain().manifest();
    }

    private static String[] endless() {
        return new String[] {"retention.ms", "-1", "local.retention.ms", "60000"};
    }

    @Test
    void theOffloadedHeadOfAChainMovesIntoAManifestAndLeavesRaft_I8() {
        PartitionId partition = withManifest(10, endless());
        ManifestRef manifest = manifest(partition).orElseThrow();
        assertThat(manifest.startOffset()).isZero();
        assertThat(manifest.endOffset()).isEqualTo(100);
        assertThat(manifest.segments()).isEqualTo(10);
        assertThat(cluster.partition(partition).chain().segments())
                .as("the last sealed one stays too, for takeovers to look into without a manifest")
                .extracting(SegmentDescriptor::state)
                .containsExactly(SegmentDescriptor.State.SEALED, SegmentDescriptor.State.OPEN);
        assertThat(cluster.image().segmentIndex().places()).hasSize(2);

        history(partition, 10, 6);
        build();
        assertThat(manifest(partition).orElseThrow().endOffset()).isEqualTo(160);
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        assertThat(cluster.tasks(DeleteObject.class))
                .extracting(DeleteObject::key)
                .as("the root before, once its readers are gone")
                .containsExactly(manifest.key());
    }

    @Test
    void whatBookiesHoldACopyOfStaysInRaft_I9() {
        PartitionId partition = partition("retention.ms", "-1", "local.retention.ms", "-2");
        history(partition, 0, 10);
        build();
        assertThat(manifest(partition)).isEmpty();
        assertThat(cluster.partition(partition).chain().size()).isEqualTo(12);
    }

    /** S3: as long as the segment says which object takes a copy's place, whoever is to delete the copy looks whether it is there. */
    @Test
    void whatABookieIsStillToLookForStaysInRaftUnlessTheBookieIsAway_I9() {
        PartitionId partition = partition(endless());
        cluster.rolled(partition, 0);
        for (int i = 1; i <= 11; i++) {
            cluster.rolled(partition, i * 10L);
            cluster.nowMs += 2_000;
            cluster.offloadAll();
        }
        cluster.nowMs += 61_000;
        cluster.plan();
        DeleteReplica kept = cluster.tasks(DeleteReplica.class).get(0);
        assertThat(cluster.segment(kept.segment()).startOffset()).isZero();
        cluster.tasks(DeleteReplica.class).stream()
                .filter(order -> !order.equals(kept))
                .forEach(cluster::complete);
        build();
        assertThat(manifest(partition)).as("its object may be missing").isEmpty();

        cluster.expireBookie(kept.bookie().value());
        build();
        assertThat(manifest(partition)).isPresent();
    }

    /** What compaction leaves behind of a merged object begins before the rewrites of its first segments end: they move together, for the bucket lists objects in the order in which they begin. */
    @Test
    void whatIsLeftOfAMergedObjectMovesWithTheRewritesOfItsFirstSegments() {
        PartitionId partition = partlyRewritten();
        cluster.topicConfig(partition.topic(), "cleanup.policy", "delete");
        cluster.rolled(partition, 50);
        dropLocalCopies(partition, 3);
        assertThat(cluster.partition(partition).chain().segments())
                .extracting(
                        segment -> segment.object().map(ObjectRef::startOffset).orElse(-1L))
                .as("of the rewrite, of what is left of the merged one, and of what is open")
                .startsWith(0L, 0L, 0L);
        build();
        assertThat(manifest(partition)).hasValueSatisfying(manifest -> {
            assertThat(manifest.endOffset()).isEqualTo(40);
            assertThat(manifest.segments()).isEqualTo(3);
        });
        assertThat(cluster.partition(partition).chain().first().orElseThrow().startOffset())
                .isEqualTo(40);
    }

    @Test
    void aManifestDoesNotEndWithinAnObjectThatFollowsInTheChain() {
        PartitionId partition = partlyRewritten();
        cluster.rolled(partition, 50);
        dropLocalCopies(partition, 1);
        assertThat(movable(partition)).as("the rewrite alone").isEmpty();
        dropLocalCopies(partition, 3);
        assertThat(movable(partition)).hasValue(new MovableStretch(0, 40, 3));
    }

    /** A restoration goes through a manifest and what begins behind it. */
    @Test
    void aManifestDoesNotEndWithinAnObjectThatStandsInForARewrite_I11() {
        PartitionId partition = partlyRewritten();
        List<SegmentDescriptor> rest =
                List.copyOf(cluster.partition(partition).chain().segments()).subList(1, 3);
        SegmentDescriptor rewrite = rewritten(partition, rest);
        cluster.rolled(partition, 50);
        dropLocalCopies(partition, 1);
        assertThat(cluster.segment(rewrite.id()).isOffloaded()).isFalse();
        assertThat(movable(partition))
                .as("the merged object is all that the bucket has of the second rewrite")
                .isEmpty();
        cluster.offloadAll();
        assertThat(movable(partition)).hasValue(new MovableStretch(0, 20, 1));
        dropLocalCopies(partition, 2);
        assertThat(movable(partition)).hasValue(new MovableStretch(0, 40, 2));
    }

    /** Four segments of ten offsets in one object, of which a rewrite took the place of the first two; uploaded. One more is open. */
    private PartitionId partlyRewritten() {
        PartitionId partition = partition(endless());
        cluster.settings = new PlannerSettings(
                1_000, 256 << 20, 1 << 20, 5_000, 600_000, 300_000, 30_000, 600_000, 4, 2, 32, 2, 2, 600_000);
        cluster.rolled(partition, 0);
        for (int i = 1; i <= 4; i++) {
            cluster.rolled(partition, i * 10L);
        }
        cluster.nowMs += 10_000;
        cluster.offloadAll();
        cluster.topicConfig(partition.topic(), "cleanup.policy", "compact");
        rewritten(
                partition,
                List.copyOf(cluster.partition(partition).chain().segments()).subList(0, 2));
        cluster.nowMs += 10_000;
        cluster.offloadAll();
        return partition;
    }

    private SegmentDescriptor rewritten(PartitionId partition, List<SegmentDescriptor> inputs) {
        SegmentDescriptor rewrite = cluster.segment(new SegmentId(
                cluster.done(Cluster.allocateRewrite(partition, 0, inputs)).getSegment()));
        cluster.done(Cluster.replace(partition, 0, Cluster.seal(rewrite, rewrite.endOffset()), inputs));
        return rewrite;
    }

    /** Of the first segments, as far as object storage has them. */
    private void dropLocalCopies(PartitionId partition, int segments) {
        PlanCommand.Builder plan = PlanCommand.newBuilder();
        cluster.partition(partition).chain().segments().stream()
                .limit(segments)
                .forEach(segment -> plan.addSteps(PlanStep.newBuilder()
                        .setDropLocal(DropLocalStep.newBuilder()
                                .setSegment(segment.id().value()))));
        cluster.done(MetadataCommand.newBuilder().setPlan(plan));
        cluster.tasks(DeleteReplica.class).forEach(cluster::complete);
    }

    private Optional<MovableStretch> movable(PartitionId partition) {
        return MovableStretch.of(cluster.partition(partition), cluster.image());
    }

    @Test
    void aHundredThousandOffloadedSegmentsCostRaftNothingThatGrows() {
        PartitionId partition = partition(endless());
        cluster.settings = new PlannerSettings(
                1_000, 256 << 20, 0, 0, 600_000, 300_000, 30_000, 600_000, 64, 2, 1_000, 64, 2, 600_000);
        cluster.rolled(partition, 0);
        long[] bytes = new long[2];
        for (int round = 0; round < 100; round++) {
            for (int i = 1; i <= 1_000; i++) {
                cluster.rolled(partition, (round * 1_000L + i) * 10);
            }
            for (int settling = 0; settling < 6; settling++) {
                cluster.nowMs += 61_000;
                cluster.offloadAll();
                cluster.tasks(DeleteReplica.class).forEach(cluster::complete);
                cluster.tasks(DeleteObject.class).forEach(cluster::complete);
                build();
            }
            bytes[round == 0 ? 0 : 1] = snapshotBytes();
            cluster.records.clear();
        }
        ManifestRef manifest = manifest(partition).orElseThrow();
        assertThat(manifest.segments()).isGreaterThan(99_000);
        assertThat(manifest.marks()).hasSizeLessThanOrEqualTo(ManifestRef.MARKS_MAX);
        assertThat(bytes[1]).as("100,000 segments").isLessThan(8_192);
        assertThat(bytes[1])
                .as("against 1,000, whose pointer has few marks yet")
                .isLessThan(bytes[0] + 2_048);
    }

    private long snapshotBytes() {
        return ImageRecords.stream(cluster.image())
                .mapToLong(record -> record.getSerializedSize())
                .sum();
    }

    @Test
    void retentionByAgeMovesTheStartToAMarkAndThePrunedObjectsAreDeletedFirst_I11() {
        PartitionId partition = withManifest(10, "retention.ms", Long.toString(DAY_MS), "local.retention.ms", "60000");
        ManifestRef before = manifest(partition).orElseThrow();
        cluster.nowMs += DAY_MS;
        cluster.planOnce();
        assertThat(cluster.partition(partition).logStartOffset()).isEqualTo(110);
        assertThat(cluster.tasks(PruneManifest.class))
                .as("readers may be on it")
                .isEmpty();
        assertThat(manifest(partition)).hasValue(before);

        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        PruneManifest task = cluster.tasks(PruneManifest.class).get(0);
        assertThat(task.belowOffset()).isEqualTo(110);
        assertThat(manifest(partition)).as("until its objects are gone").hasValue(before);
        cluster.done(manifests.pruned(task));
        assertThat(manifest(partition)).isEmpty();
        assertThat(cluster.image().taskIndex().manifests()).isEqualTo(ManifestWork.EMPTY);
    }

    @Test
    void retentionBySizeCountsWhatTheManifestDescribes() {
        PartitionId partition = withManifest(10, endless());
        cluster.done(MetadataCommand.newBuilder()
                .setAlterTopicConfigs(AlterTopicConfigsCommand.newBuilder()
                        .setId(ProtoModel.toProto(partition.topic()))
                        .addChanges(ConfigChangeProto.newBuilder()
                                .setKey("retention.bytes")
                                .setValue("3000"))));
        for (int i = 0; i < 6; i++) {
            prune();
        }
        long start = cluster.partition(partition).logStartOffset();
        assertThat(start).isEqualTo(80);
        assertThat(manifest(partition).orElseThrow().startOffset()).isEqualTo(80);
        assertThat(manifest(partition).orElseThrow().bytes())
                .as("beside the thousand of the sealed segment in the chain")
                .isEqualTo(2_000);
    }

    @Test
    void deletedRecordsLeaveTheManifestByWholeObjects() {
        PartitionId partition = withManifest(10, endless());
        cluster.done(Cluster.advance(partition, 0, 35));
        prune();
        assertThat(manifest(partition).orElseThrow().startOffset()).isEqualTo(30);
        cluster.done(Cluster.advance(partition, 0, 100));
        prune();
        assertThat(manifest(partition)).isEmpty();
    }

    @Test
    void segmentsAfterAManifestStayUntilItIsGone_I8() {
        PartitionId partition = withManifest(10, endless());
        history(partition, 10, 2);
        cluster.done(Cluster.advance(partition, 0, 115));
        cluster.plan();
        assertThat(cluster.partition(partition).chain().first().orElseThrow().startOffset())
                .isEqualTo(100);
        prune();
        cluster.plan();
        assertThat(manifest(partition)).isEmpty();
        assertThat(cluster.partition(partition).chain().first().orElseThrow().startOffset())
                .isEqualTo(110);
    }

    @Test
    void aDeletedTopicsManifestIsPrunedBeforeThePartitionIsForgotten_I11() {
        PartitionId partition = withManifest(10, endless());
        cluster.done(MetadataCommand.newBuilder()
                .setDeleteTopic(DeleteTopicCommand.newBuilder().setId(ProtoModel.toProto(partition.topic()))));
        cluster.plan();
        assertThat(cluster.image().condemned()).hasSize(1);
        assertSnapshotLeadsHere();
        prune();
        cluster.plan();
        assertThat(cluster.image().condemned()).isEmpty();
        assertThat(cluster.image().taskIndex().manifests()).isEqualTo(ManifestWork.EMPTY);
    }

    /** What can't be read can't be pruned in part; nothing of a deleted topic is in part. */
    @Test
    void theDeletionOfATopicTakesThePlaceOfAPruningThatFails_I11() {
        PartitionId partition = withManifest(10, endless());
        cluster.done(Cluster.advance(partition, 0, 35));
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        failAll(PruneManifest.class);
        cluster.done(MetadataCommand.newBuilder()
                .setDeleteTopic(DeleteTopicCommand.newBuilder().setId(ProtoModel.toProto(partition.topic()))));
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        assertThat(cluster.tasks(PruneManifest.class))
                .extracting(PruneManifest::belowOffset)
                .containsExactly(Long.MAX_VALUE);
        failAll(PruneManifest.class);
        cluster.nowMs += 30_000;
        prune();
        cluster.plan();
        assertThat(cluster.image().condemned()).isEmpty();
    }

    /** A manifest that is lost is given up when the log's start has passed its end, and not before. */
    @Test
    void aPruningThatFailsIsTriedAgainUpToWhereTheLogStartsByThen_I11() {
        PartitionId partition = withManifest(10, endless());
        history(partition, 10, 2);
        cluster.done(Cluster.advance(partition, 0, 35));
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        cluster.done(Cluster.advance(partition, 0, 115));
        failAll(PruneManifest.class);
        cluster.nowMs += 30_000;
        cluster.plan();
        assertThat(cluster.tasks(PruneManifest.class))
                .as("readers may be on what lies between")
                .isEmpty();
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        assertThat(cluster.tasks(PruneManifest.class))
                .extracting(PruneManifest::belowOffset)
                .containsExactly(115L);
    }

    @Test
    void ofTwoBuildersOneWinsAndWhatTheOtherWroteIsDeleted() {
        PartitionId partition = partition(endless());
        history(partition, 0, 10);
        cluster.plan();
        BuildManifest first = cluster.tasks(BuildManifest.class).get(0);
        MetadataCommand.Builder late = manifests.built(first, cluster.image());
        cluster.nowMs += cluster.settings.taskDeadlineMs() + 1;
        cluster.plan();
        cluster.nowMs += 2_000;
        cluster.plan();
        BuildManifest second = cluster.tasks(BuildManifest.class).get(0);
        assertThat(second.taskId()).isGreaterThan(first.taskId());
        MetadataCommand.Builder winner = manifests.built(second, cluster.image());
        cluster.refused(late.clone(), Reason.NOT_FOUND);
        cluster.done(winner);
        cluster.refused(late, Reason.NOT_FOUND);
        assertThat(manifest(partition).orElseThrow().generation()).isEqualTo(second.taskId());
        assertThat(cluster.image().taskIndex().deadObjects().keySet())
                .as("a root and leaves of the first")
                .hasSize(1 + BuildManifest.LEAVES_MAX)
                .allMatch(key -> key.contains("/manifest/"
                        + "0".repeat(16 - Long.toHexString(first.taskId()).length())));
    }

    @Test
    void aPointerChangesOnlyFromTheOneThatWasBuiltUpon() {
        PartitionId partition = partition(endless());
        history(partition, 0, 10);
        cluster.plan();
        BuildManifest task = cluster.tasks(BuildManifest.class).get(0);
        MetadataCommand.Builder commit = manifests.built(task, cluster.image());
        cluster.done(Cluster.advance(partition, 0, 20));
        cluster.planOnce();
        cluster.done(commit);
        assertThat(manifest(partition)).as("its first segments are gone").isEmpty();
        assertThat(cluster.tasks(BuildManifest.class)).isEmpty();
        assertThat(cluster.image().taskIndex().deadObjects()).isNotEmpty();
    }

    @Test
    void aPointerThatIsNotWhatWasAskedForIsRefused() {
        PartitionId partition = partition(endless());
        history(partition, 0, 10);
        cluster.plan();
        BuildManifest task = cluster.tasks(BuildManifest.class).get(0);
        manifests.built(task, cluster.image());
        ManifestRef right = ProtoModel.fromProto(
                manifests.built(task, cluster.image()).getCommitManifest().getManifest());
        cluster.refused(ModelManifests.commit(task, Optional.empty(), List.of()), Reason.INVALID);
        cluster.refused(
                ModelManifests.commit(task, Optional.of(with(right, "c/other", right.generation())), List.of()),
                Reason.INVALID);
        cluster.refused(
                ModelManifests.commit(task, Optional.of(with(right, right.key(), right.generation() + 1)), List.of()),
                Reason.INVALID);
        cluster.refused(ModelManifests.commit(task, Optional.of(right), List.of(right.key())), Reason.INVALID);
        cluster.refused(ModelManifests.commit(task, Optional.of(right), List.of("c/a-segment.seg")), Reason.INVALID);
        cluster.done(ModelManifests.commit(task, Optional.of(right), List.of()));
        assertThat(manifest(partition)).hasValue(right);
    }

    private static ManifestRef with(ManifestRef ref, String key, long generation) {
        return new ManifestRef(
                key,
                generation,
                ref.startOffset(),
                ref.endOffset(),
                ref.segments(),
                ref.bytes(),
                ref.maxTimestampMs(),
                ref.length(),
                ref.crc32c(),
                ref.marks());
    }

    @Test
    void workOnAManifestThatFailedIsDoneAgainLater() {
        PartitionId partition = withManifest(10, endless());
        history(partition, 10, 5);
        cluster.plan();
        failAll(BuildManifest.class);
        cluster.planOnce();
        assertThat(cluster.tasks(BuildManifest.class)).isEmpty();
        cluster.nowMs += 2_000;
        build();
        assertThat(manifest(partition).orElseThrow().endOffset()).isEqualTo(150);

        cluster.done(Cluster.advance(partition, 0, 50));
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        failAll(PruneManifest.class);
        cluster.planOnce();
        assertThat(cluster.tasks(PruneManifest.class)).isEmpty();
        cluster.nowMs += 2_000;
        prune();
        assertThat(manifest(partition).orElseThrow().startOffset()).isEqualTo(50);
    }

    /** Who looks an hour later must still see it, whichever node answers; and not when it is over. */
    @Test
    void aManifestThatCantBeReadIsAnAlarmUntilItIsReadOrGivenUp() {
        PartitionId partition = withManifest(10, endless());
        String key = manifest(partition).orElseThrow().key();
        assertThat(cluster.image().alarms()).isEmpty();

        history(partition, 10, 5);
        cluster.plan();
        failAll(BuildManifest.class, "CORRUPT: " + key + ": another manifest");
        Alarm damaged = new Alarm(
                Alarm.Kind.MANIFEST_DAMAGED, Optional.of(partition), key, 1, "CORRUPT: " + key + ": another manifest");
        assertThat(cluster.image().alarms()).containsExactly(damaged);
        assertSnapshotLeadsHere();
        cluster.nowMs += 3_600_000;
        assertThat(cluster.image().alarms()).containsExactly(damaged);
        build();
        assertThat(cluster.image().alarms()).isEmpty();

        cluster.done(Cluster.advance(partition, 0, 50));
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        failAll(PruneManifest.class, "MISSING: gone");
        assertThat(cluster.image().alarms())
                .extracting(Alarm::kind, Alarm::reason)
                .containsExactly(tuple(Alarm.Kind.MANIFEST_DAMAGED, "MISSING: gone"));
        assertSnapshotLeadsHere();
        prune();
        assertThat(cluster.image().alarms()).isEmpty();
    }

    @Test
    void whatKeepsAManifestFromBeingBuiltIsForgottenWithTheManifest() {
        PartitionId partition = withManifest(10, endless());
        history(partition, 10, 5);
        cluster.plan();
        failAll(BuildManifest.class, "CORRUPT: the root");
        cluster.done(Cluster.advance(partition, 0, 100));
        prune();
        assertThat(manifest(partition)).isEmpty();
        assertThat(cluster.image().alarms()).isEmpty();
    }

    @Test
    void workOnAManifestThatFailsForAnotherReasonIsAnAlarmWhenItLasts() {
        PartitionId partition = withManifest(10, endless());
        cluster.done(Cluster.advance(partition, 0, 50));
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        for (int i = 1; i < Alarms.LASTING_ATTEMPTS; i++) {
            cluster.plan();
            failAll(PruneManifest.class, "UNAVAILABLE: connection refused");
            assertThat(cluster.image().alarms()).isEmpty();
            cluster.nowMs += 30_000;
        }
        cluster.plan();
        failAll(PruneManifest.class, "UNAVAILABLE: connection refused");
        assertThat(cluster.image().alarms())
                .extracting(Alarm::kind, Alarm::attempts)
                .containsExactly(tuple(Alarm.Kind.MANIFEST_WORK_FAILS, Alarms.LASTING_ATTEMPTS));
        cluster.nowMs += 30_000;
        prune();
        assertThat(cluster.image().alarms()).isEmpty();
    }

    private void failAll(Class<? extends BookieTask> kind) {
        failAll(kind, "test");
    }

    private void failAll(Class<? extends BookieTask> kind, String reason) {
        assertThat(cluster.tasks(kind)).isNotEmpty();
        cluster.tasks(kind)
                .forEach(task -> cluster.done(MetadataCommand.newBuilder()
                        .setFailTask(FailTaskCommand.newBuilder()
                                .setTask(task.taskId())
                                .setReason(reason))));
    }

    @Test
    void aManifestEndsWhereAnObjectDoes() {
        PartitionId partition = partition(endless());
        cluster.settings = new PlannerSettings(
                1_000, 256 << 20, 1 << 20, 5_000, 600_000, 300_000, 30_000, 600_000, 4, 2, 32, 2, 2, 600_000);
        cluster.rolled(partition, 0);
        for (int i = 1; i <= 3; i++) {
            cluster.rolled(partition, i * 10L);
        }
        cluster.nowMs += 61_000;
        cluster.offloadAll();
        cluster.plan();
        cluster.tasks(DeleteReplica.class).forEach(cluster::complete);
        SegmentDescriptor first = cluster.partition(partition).chain().first().orElseThrow();
        assertThat(first.object().orElseThrow().endOffset()).isEqualTo(30);
        cluster.rolled(partition, 40);
        build();
        assertThat(manifest(partition).orElseThrow().endOffset()).isEqualTo(30);
        assertThat(manifest(partition).orElseThrow().marks()).hasSize(1);
        cluster.done(Cluster.advance(partition, 0, 25));
        prune();
        assertThat(manifest(partition).orElseThrow().startOffset())
                .as("the object is needed to its last segment")
                .isZero();
    }

    private void assertSnapshotLeadsHere() {
        SnapshotReplay quick = new SnapshotReplay();
        ImageRecords.stream(cluster.image()).forEach(quick::add);
        assertThat(quick.finish(cluster.image().version(), cluster.image().digest()))
                .isEqualTo(cluster.image());
    }
}
