package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.Alarm;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BookieTask.DeleteObject;
import io.varve.metadata.model.BookieTask.DeleteReplica;
import io.varve.metadata.model.BookieTask.Offload;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.DeleteTopicCommand;
import io.varve.protocol.meta.FailTaskCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.ReportLostReplicaCommand;
import io.varve.protocol.meta.ReportStuckTaskCommand;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

class PlannersTest {

    private final Cluster cluster = Cluster.of(4);

    private static MetadataCommand.Builder fail(BookieTask task) {
        return fail(task, "test");
    }

    private static MetadataCommand.Builder fail(BookieTask task, String reason) {
        return MetadataCommand.newBuilder()
                .setFailTask(FailTaskCommand.newBuilder().setTask(task.taskId()).setReason(reason));
    }

    @Test
    void adjoiningSmallSegmentsAreOffloadedAsOneObjectAfterTheyWaitedForMore() {
        PartitionId partition = cluster.newPartition();
        List<SegmentDescriptor> segments = cluster.sealed(partition, 3);
        cluster.nowMs += 5_000;
        cluster.plan();
        assertThat(cluster.image().tasks()).as("small: it waits for more").isEmpty();
        cluster.nowMs += 60_000;
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).singleElement().satisfies(task -> {
            assertThat(task.segments())
                    .containsExactlyElementsOf(
                            segments.stream().map(SegmentDescriptor::id).toList());
            assertThat(segments.get(0).replicas()).extracting(Replica::bookie).contains(task.bookie());
        });
    }

    @Test
    void aSegmentOfItsFullSizeIsOffloadedSoon() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        cluster.sealed(partition, 1);
        cluster.nowMs += 1_000;
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).hasSize(1);
    }

    @Test
    void uploadsArePausedAndGoOnForTheClusterAndForATopic() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        cluster.sealed(partition, 1);
        cluster.nowMs += 1_000;
        cluster.clusterConfig("tiering.upload.pause", "true");
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).as("paused for the cluster").isEmpty();
        cluster.clusterConfig("tiering.upload.pause", "false");
        cluster.topicConfig(partition.topic(), "remote.log.copy.disable", "true");
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).as("paused for the topic").isEmpty();
        cluster.topicConfig(partition.topic(), "remote.log.copy.disable", "false");
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).hasSize(1);
    }

    @Test
    void switchingTieringOffKeepsWhatBookiesHoldAndWhatObjectsHold_S23() {
        PartitionId partition = cluster.newPartition(
                "segment.bytes", "1024", "local.retention.ms", "1000", "local.retention.bytes", "0");
        cluster.topicConfig(partition.topic(), "remote.storage.enable", "false");
        SegmentDescriptor local = cluster.sealed(partition, 2).get(1);
        cluster.topicConfig(partition.topic(), "remote.storage.enable", "true");
        cluster.nowMs += 1_000;
        cluster.plan();
        cluster.tasks(Offload.class).forEach(task -> cluster.done(Cluster.commit(task, cluster.objectOf(task))));
        cluster.topicConfig(partition.topic(), "remote.storage.enable", "false");
        cluster.nowMs += 1_000_000;
        cluster.plan();
        assertThat(cluster.tasks(DeleteReplica.class))
                .as("nothing more is deleted locally")
                .isEmpty();
        assertThat(cluster.image().find(local.id())).satisfies(segment -> {
            assertThat(segment.isOffloaded()).isTrue();
            assertThat(segment.replicas()).hasSize(3);
        });
    }

    @Test
    void whyWorkFailedIsKeptUntilItSucceeds_S24() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        SegmentDescriptor segment = cluster.sealed(partition, 1).get(0);
        cluster.nowMs += 1_000;
        cluster.plan();
        cluster.done(fail(cluster.tasks(Offload.class).get(0)));
        assertThat(cluster.image().failure(segment.id())).hasValueSatisfying(failed -> {
            assertThat(failed.attempts()).isEqualTo(1);
            assertThat(failed.reason()).isEqualTo("test");
            assertThat(failed.errorClass()).isEqualTo("OTHER");
        });
        cluster.nowMs += 10_000;
        cluster.plan();
        Offload again = cluster.tasks(Offload.class).get(0);
        cluster.done(Cluster.commit(again, cluster.objectOf(again)));
        assertThat(cluster.image().failure(segment.id())).isEmpty();
    }

    /** While a store is away attempts fail for hours; keys under which nothing was ever written are no work for anybody (S24). */
    @Test
    void anAttemptThatCertainlyLeftNothingLeavesNothingToBeDeleted() {
        SegmentDescriptor segment =
                cluster.sealed(cluster.newPartition("segment.bytes", "1024"), 1).get(0);
        for (int attempt = 1; attempt <= 5; attempt++) {
            cluster.nowMs += 60_000;
            cluster.plan();
            Offload upload = cluster.tasks(Offload.class).get(0);
            cluster.done(MetadataCommand.newBuilder()
                    .setFailTask(FailTaskCommand.newBuilder()
                            .setTask(upload.taskId())
                            .setReason("FORBIDDEN: who are you")
                            .setLeftNothing(true)));
            assertThat(cluster.image().failure(segment.id()).orElseThrow().attempts())
                    .isEqualTo(attempt);
        }
        assertThat(cluster.image().taskIndex().deadObjects()).isEmpty();
        assertThat(cluster.tasks(DeleteObject.class)).isEmpty();
    }

    @Test
    void anOffloadIsCommittedOnlyForTheAttemptThatStands_I10() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        List<SegmentDescriptor> segments = cluster.sealed(partition, 1);
        cluster.nowMs += 1_000;
        cluster.plan();
        Offload first = cluster.tasks(Offload.class).get(0);
        ObjectRef late = cluster.objectOf(first);
        cluster.done(fail(first));
        assertThat(cluster.image().taskIndex().deadObjects())
                .as("whatever the attempt left")
                .containsKey(late.key());
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).as("it backs off").isEmpty();
        cluster.nowMs += 2_000;
        cluster.plan();
        Offload second = cluster.tasks(Offload.class).get(0);
        assertThat(second.taskId()).isGreaterThan(first.taskId());
        cluster.refused(Cluster.commit(first, late), Reason.NOT_FOUND);
        cluster.refused(Cluster.commit(second, late), Reason.INVALID);
        cluster.done(Cluster.commit(second, cluster.objectOf(second)));
        assertThat(cluster.segment(segments.get(0).id()).object().orElseThrow().attemptId())
                .isEqualTo(second.taskId());
        assertThat(cluster.segment(segments.get(0).id()).replicas())
                .as("local deletion is another matter")
                .hasSize(3);
    }

    @Test
    void anOffloadGivenToABookieThatGoesAwayIsGivenToAnotherHolder() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        cluster.sealed(partition, 1);
        cluster.nowMs += 1_000;
        cluster.plan();
        Offload first = cluster.tasks(Offload.class).get(0);
        cluster.expireBookie(first.bookie().value());
        cluster.plan();
        cluster.nowMs += 2_000;
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).singleElement().satisfies(task -> {
            assertThat(task.bookie()).isNotEqualTo(first.bookie());
            assertThat(task.taskId()).isNotEqualTo(first.taskId());
        });
        assertThat(cluster.image()
                        .taskIndex()
                        .deadObjects()
                        .firstEntry()
                        .getValue()
                        .when()
                        .notBeforeMs())
                .as("the bookie that went away may still be writing")
                .isGreaterThan(cluster.nowMs + 200_000);
    }

    @Test
    void anOffloadThatTakesTooLongIsTakenBack() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        cluster.sealed(partition, 1);
        cluster.nowMs += 1_000;
        cluster.plan();
        Offload first = cluster.tasks(Offload.class).get(0);
        cluster.nowMs += cluster.settings.taskDeadlineMs() + 1_000;
        cluster.planOnce();
        assertThat(cluster.tasks(Offload.class)).doesNotContain(first);
    }

    /** On a line that takes longer for a segment than the deadline, no upload would ever end. */
    @Test
    void whatIsLargeHasTheTimeThatItsBytesTake() {
        PartitionId partition = cluster.newPartition();
        long bytes = 2_000L << 20;
        SegmentDescriptor open = cluster.rolled(partition, 0);
        SegmentDescriptor next = cluster.allocated(partition);
        cluster.done(Cluster.roll(partition, 0, Cluster.seal(open, 10).setBytes(bytes), next.id()));
        cluster.nowMs += 61_000;
        cluster.plan();
        Offload upload = cluster.tasks(Offload.class).get(0);
        cluster.nowMs += bytes * 1_000 / BookieTask.BYTES_PER_SECOND_MIN;
        cluster.plan();
        assertThat(cluster.tasks(Offload.class)).containsExactly(upload);
        cluster.nowMs += cluster.settings.taskDeadlineMs() + 1;
        cluster.planOnce();
        assertThat(cluster.tasks(Offload.class)).doesNotContain(upload);
    }

    @Test
    void aDeadlineOfNeverIsNever() {
        PlannerSettings usual = cluster.settings;
        cluster.settings = new PlannerSettings(
                usual.offloadDelayMs(),
                usual.offloadMergeBytes(),
                usual.offloadSmallBytes(),
                usual.offloadSmallWaitMs(),
                Long.MAX_VALUE,
                usual.abandonedAttemptMs(),
                usual.confirmDelayMs(),
                usual.repairDelayMs(),
                usual.offloadsPerBookie(),
                usual.copiesPerBookie(),
                usual.objectDeletionsPerBookie(),
                usual.manifestSegmentsMin(),
                usual.manifestsPerBookie(),
                usual.clientForgetMs());
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        cluster.sealed(partition, 1);
        cluster.nowMs += 1_000;
        cluster.plan();
        List<Offload> uploads = cluster.tasks(Offload.class);
        assertThat(uploads).hasSize(1);
        cluster.nowMs += 3_600_000;
        cluster.planOnce();
        assertThat(cluster.tasks(Offload.class)).isEqualTo(uploads);
    }

    /** Its process may be alive, and only cut off from here: what it still uploads must not appear after it was looked for (I-11). */
    @Test
    void whatABookieWasUploadingWhenItWentAwayIsDeletedOnlyWhenItCanNoLongerBeAtIt() {
        cluster.sealed(cluster.newPartition("segment.bytes", "1024"), 1);
        cluster.nowMs += 1_000;
        cluster.plan();
        Offload upload = cluster.tasks(Offload.class).get(0);
        String key = cluster.objectOf(upload).key();
        cluster.expireBookie(upload.bookie().value());
        cluster.planOnce();
        assertThat(cluster.image().taskIndex().deadObjects().get(key).when().notBeforeMs())
                .isEqualTo(cluster.nowMs + cluster.settings.abandonedAttemptMs());
        cluster.nowMs += cluster.settings.abandonedAttemptMs() - 1;
        cluster.planOnce();
        assertThat(cluster.tasks(DeleteObject.class)).isEmpty();
        cluster.nowMs += 1;
        cluster.planOnce();
        assertThat(cluster.tasks(DeleteObject.class))
                .extracting(DeleteObject::key)
                .containsExactly(key);
    }

    /** The others are at work, and the one that can't reach the store has never anything to do. */
    @Test
    void whatFailedGoesByTurnsAndNotToWhoeverIsIdle() {
        List<BookieId> all = List.of(new BookieId(1), new BookieId(2), new BookieId(3));
        Map<BookieId, Integer> counts = new TreeMap<>(Map.of(new BookieId(1), 3, new BookieId(2), 2));
        assertThat(TaskPlanner.leastBusy(all, counts, 4, null)).contains(new BookieId(3));
        assertThat(TaskPlanner.leastBusy(all, counts, 4, new Retry(1, 0))).contains(new BookieId(2));
        assertThat(TaskPlanner.leastBusy(all, counts, 4, new Retry(3, 0))).contains(new BookieId(1));
        counts.put(new BookieId(1), 4);
        assertThat(TaskPlanner.leastBusy(all, counts, 4, new Retry(3, 0))).contains(new BookieId(2));
    }

    /** One bookie may be the only one that can't reach the store. */
    @Test
    void whatFailedIsGivenToAnotherHolderNextTime() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        SegmentDescriptor segment = cluster.sealed(partition, 1).get(0);
        cluster.nowMs += 1_000;
        Set<BookieId> asked = new TreeSet<>();
        for (int i = 0; i < 3; i++) {
            cluster.plan();
            Offload upload = cluster.tasks(Offload.class).get(0);
            asked.add(upload.bookie());
            cluster.done(fail(upload));
            cluster.nowMs += 60_000;
        }
        assertThat(asked)
                .as("each of the holders had its turn")
                .hasSize(segment.replicas().size());

        List<BookieId> deleters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            cluster.plan();
            DeleteObject deletion = cluster.tasks(DeleteObject.class).get(0);
            deleters.add(deletion.bookie());
            cluster.tasks(DeleteObject.class).forEach(task -> cluster.done(fail(task)));
            cluster.nowMs += 60_000;
        }
        assertThat(deleters).doesNotHaveDuplicates();
    }

    @Test
    void localCopiesAreDeletedAfterLocalRetentionAndOnlyOnceOffloaded() {
        PartitionId partition =
                cluster.newPartition("segment.bytes", "1024", "local.retention.ms", "5000", "retention.ms", "-1");
        SegmentId first = cluster.sealed(partition, 2).get(0).id();
        cluster.nowMs += 10_000;
        cluster.plan();
        assertThat(cluster.tasks(DeleteReplica.class))
                .as("nothing is offloaded yet")
                .isEmpty();
        cluster.offloadAll();
        cluster.plan();
        assertThat(cluster.segment(first).replicas()).isEmpty();
        assertThat(cluster.segment(first).object()).isPresent();
        assertThat(cluster.tasks(DeleteReplica.class)).hasSize(6);
    }

    /** S3: what a bookie kept because the object is gone is read again, and nobody asks for it to be deleted every second. */
    @Test
    void aCopyThatWasKeptBecauseItsObjectIsGoneIsReadAgain() {
        for (String retention : List.of("local.retention.ms", "local.retention.bytes")) {
            PartitionId partition = new PartitionId(
                    cluster.topic(retention, 1, 3, "segment.bytes", "1024", retention, "0", "retention.ms", "-1"), 0);
            SegmentId first = cluster.sealed(partition, 2).get(0).id();
            cluster.nowMs += 10_000;
            cluster.offloadAll();
            cluster.plan();
            List<DeleteReplica> orders = orders(first);
            assertThat(orders).hasSize(3);
            DeleteReplica kept = orders.get(0);

            cluster.done(fail(kept, "MISSING: the object"));
            assertThat(cluster.segment(first).replicas())
                    .containsExactly(new Replica(kept.bookie(), kept.incarnation()));
            assertThat(cluster.segment(first).isOffloaded()).isTrue();
            assertThat(cluster.image().failure(first).orElseThrow().reason()).isEqualTo("MISSING: the object");
            cluster.done(fail(orders.get(1), "MISSING: the object"));
            String key = cluster.segment(first).object().orElseThrow().key();
            assertThat(cluster.image().alarms())
                    .as("whoever looks in an hour still sees it")
                    .containsExactly(new Alarm(
                            Alarm.Kind.OBJECT_MISSING, Optional.of(partition), key, 1, "MISSING: the object"));
            assertThat(cluster.segment(first).replicas()).hasSize(2);
            cluster.nowMs += 60_000;
            cluster.plan();
            assertThat(orders(first)).containsExactly(orders.get(2));

            cluster.complete(orders.get(2));
            cluster.nowMs += 700_000;
            cluster.plan();
            assertThat(cluster.segment(first).replicas()).isEmpty();
            assertThat(orders(first)).extracting(DeleteReplica::bookie).contains(kept.bookie());
            orders(first).forEach(cluster::complete);
            assertThat(cluster.image().failure(first)).as("it is there again").isEmpty();
            assertThat(cluster.image().alarms()).isEmpty();
        }
    }

    /** S3: neither the object nor the copy that was to be deleted for it can be read. No order is taken back, and it is told until the object is seen again. */
    @Test
    void aSegmentThatNobodyCanReadIsAnAlarmUntilItsObjectIsThere() {
        PartitionId partition =
                cluster.newPartition("segment.bytes", "1024", "local.retention.ms", "0", "retention.ms", "-1");
        SegmentId first = cluster.sealed(partition, 2).get(0).id();
        cluster.nowMs += 10_000;
        cluster.offloadAll();
        cluster.plan();
        List<DeleteReplica> orders = orders(first);
        String key = cluster.segment(first).object().orElseThrow().key();

        cluster.done(stuck(orders.get(0), "UNREADABLE: both"));
        cluster.done(stuck(orders.get(0), "UNREADABLE: both"));
        assertThat(orders(first)).as("it is still to be deleted").isEqualTo(orders);
        assertThat(cluster.segment(first).replicas()).isEmpty();
        assertThat(cluster.image().alarms())
                .containsExactly(
                        new Alarm(Alarm.Kind.SEGMENT_UNREADABLE, Optional.of(partition), key, 2, "UNREADABLE: both"));
        SnapshotReplay copy = new SnapshotReplay();
        ImageRecords.stream(cluster.image()).forEach(copy::add);
        assertThat(copy.finish(cluster.image().version(), cluster.image().digest())
                        .alarms())
                .isEqualTo(cluster.image().alarms());

        cluster.done(fail(orders.get(1), "MISSING: the object"));
        cluster.done(stuck(orders.get(0), "UNREADABLE: both"));
        assertThat(cluster.image().alarms())
                .as("another bookie has a whole copy")
                .extracting(Alarm::kind)
                .containsExactly(Alarm.Kind.OBJECT_MISSING);

        cluster.nowMs += 1_200_000;
        cluster.plan();
        orders(first).forEach(cluster::complete);
        assertThat(cluster.image().alarms()).isEmpty();
        cluster.refused(stuck(orders.get(0), "UNREADABLE: both"), Reason.NOT_FOUND);
    }

    private static MetadataCommand.Builder stuck(DeleteReplica order, String reason) {
        return MetadataCommand.newBuilder()
                .setReportStuckTask(ReportStuckTaskCommand.newBuilder()
                        .setTask(order.taskId())
                        .setReason(reason));
    }

    /** Only what an object should hold comes back: anything else was to be deleted because it doesn't count any more. */
    @Test
    void aCopyOfWhatNoObjectHoldsIsNotTakenBack() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        SegmentDescriptor segment = cluster.sealed(partition, 1).get(0);
        BookieId lost = segment.replicas().get(0).bookie();
        cluster.done(MetadataCommand.newBuilder()
                .setReportLostReplica(ReportLostReplicaCommand.newBuilder()
                        .setSegment(segment.id().value())
                        .setBookie(lost.value())));
        DeleteReplica order = orders(segment.id()).get(0);
        cluster.done(fail(order));
        assertThat(orders(segment.id())).containsExactly(order);
        assertThat(cluster.segment(segment.id()).replicas())
                .extracting(Replica::bookie)
                .doesNotContain(lost);
    }

    private List<DeleteReplica> orders(SegmentId segment) {
        return cluster.tasks(DeleteReplica.class).stream()
                .filter(order -> order.segment().equals(segment))
                .toList();
    }

    /** A partition without an owner for long: whoever owns it next begins with what the last segment says, and is not to wait for object storage. */
    @Test
    void theLastSegmentOfAReleasedChainKeepsItsCopies() {
        PartitionId partition = cluster.newPartition(
                "segment.bytes",
                "1024",
                "local.retention.ms",
                "5000",
                "local.retention.bytes",
                "0",
                "retention.ms",
                "-1");
        SegmentId first = cluster.sealed(partition, 1).get(0).id();
        SegmentDescriptor open = cluster.partition(partition).chain().open().orElseThrow();
        int epoch = cluster.partition(partition).epoch();
        cluster.done(Cluster.release(partition, epoch, Cluster.seal(open, open.startOffset() + 8)));
        cluster.nowMs += 10_000;
        cluster.offloadAll();
        cluster.plan();
        assertThat(cluster.segment(first).replicas()).isEmpty();
        assertThat(cluster.segment(open.id()).object()).isPresent();
        assertThat(cluster.segment(open.id()).replicas()).hasSize(3);
    }

    @Test
    void localCopiesBeyondLocalRetentionBytesAreDeletedTheOldestFirst() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024", "local.retention.bytes", "1500");
        List<SegmentDescriptor> segments = cluster.sealed(partition, 4);
        cluster.nowMs += 2_000;
        cluster.offloadAll();
        cluster.plan();
        assertThat(segments)
                .extracting(s -> cluster.segment(s.id()).replicas().isEmpty())
                .containsExactly(true, true, false, false);
    }

    @Test
    void retentionByAgeMovesTheStartAndDeletesReplicasAndObjects_I11() {
        PartitionId partition =
                cluster.newPartition("segment.bytes", "1024", "retention.ms", "60000", "local.retention.ms", "-2");
        cluster.sealed(partition, 2);
        cluster.nowMs += 2_000;
        cluster.offloadAll();
        cluster.nowMs += 60_000;
        cluster.plan();
        assertThat(cluster.partition(partition).logStartOffset()).isEqualTo(20);
        assertThat(cluster.partition(partition).chain().size()).isEqualTo(1);
        assertThat(cluster.tasks(DeleteReplica.class)).hasSize(6);
        assertThat(cluster.tasks(DeleteObject.class))
                .as("readers may still be on them")
                .isEmpty();
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        assertThat(cluster.tasks(DeleteObject.class)).isNotEmpty();
        cluster.tasks(DeleteObject.class).forEach(cluster::complete);
        assertThat(cluster.image().taskIndex().deadObjects()).isEmpty();
    }

    /** C16.7: a bucket that lets nothing be deleted. */
    @Test
    void anObjectThatIsNotDeletedAgainAndAgainIsAnAlarmUntilItIs() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024", "retention.ms", "-1");
        cluster.sealed(partition, 2);
        cluster.nowMs += 2_000;
        cluster.offloadAll();
        cluster.done(Cluster.advance(partition, 0, 20));
        cluster.plan();
        for (int i = 1; i <= Alarms.LASTING_ATTEMPTS; i++) {
            assertThat(cluster.image().alarms()).isEmpty();
            cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
            cluster.plan();
            DeleteObject order = cluster.tasks(DeleteObject.class).get(0);
            cluster.done(fail(order, "FORBIDDEN: 403 AccessDenied"));
        }
        assertThat(cluster.image().alarms()).singleElement().satisfies(alarm -> {
            assertThat(alarm.kind()).isEqualTo(Alarm.Kind.OBJECT_NOT_DELETED);
            assertThat(alarm.partition()).contains(partition);
            assertThat(alarm.reason()).isEqualTo("FORBIDDEN: 403 AccessDenied");
        });
        SnapshotReplay copy = new SnapshotReplay();
        ImageRecords.stream(cluster.image()).forEach(copy::add);
        assertThat(copy.finish(cluster.image().version(), cluster.image().digest())
                        .alarms())
                .isEqualTo(cluster.image().alarms());

        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        cluster.tasks(DeleteObject.class).forEach(cluster::complete);
        assertThat(cluster.image().alarms()).isEmpty();
    }

    /** C15: uploads go on soon after the store is back; ten thousand deletions that fail must not be all that the metadata does meanwhile. */
    @Test
    void aDeletionThatFailsIsTriedMoreRarelyInTheEndThanAnUpload() {
        for (int attempts = 0; attempts < 5; attempts++) {
            assertThat(Retry.afterUnhurried(attempts, 0, "")).isEqualTo(Retry.after(attempts, 0, ""));
        }
        assertThat(Retry.after(1_000, 0, "").notBeforeMs()).isEqualTo(30_000);
        assertThat(Retry.afterUnhurried(1_000, 0, "").notBeforeMs()).isEqualTo(300_000);
        assertThat(new DeadObject(new Retry(1_000, 0)).later(0, "").when().notBeforeMs())
                .isEqualTo(300_000);
    }

    /** What is there already falls under what is configured now, shorter or longer. */
    @Test
    void retentionCanBeChangedAtAnyTime() {
        PartitionId partition =
                cluster.newPartition("segment.bytes", "1024", "retention.ms", "-1", "local.retention.ms", "-2");
        SegmentId first = cluster.sealed(partition, 2).get(0).id();
        cluster.nowMs += 100_000;
        cluster.offloadAll();
        cluster.plan();
        assertThat(cluster.segment(first).replicas()).hasSize(3);

        alter(partition, "local.retention.ms", "5000");
        cluster.plan();
        assertThat(cluster.segment(first).replicas()).isEmpty();
        assertThat(cluster.segment(first).object()).isPresent();

        alter(partition, "retention.ms", "200000");
        cluster.nowMs += 50_000;
        cluster.plan();
        assertThat(cluster.partition(partition).logStartOffset()).isZero();
        alter(partition, "retention.ms", "60000");
        cluster.plan();
        assertThat(cluster.partition(partition).logStartOffset()).isEqualTo(20);
    }

    private void alter(PartitionId partition, String key, String value) {
        cluster.done(MetadataCommand.newBuilder()
                .setAlterTopicConfigs(AlterTopicConfigsCommand.newBuilder()
                        .setId(ProtoModel.toProto(partition.topic()))
                        .addChanges(ConfigChangeProto.newBuilder().setKey(key).setValue(value))));
    }

    @Test
    void anObjectSharedBySegmentsIsDeletedWithTheLastOfThem() {
        PartitionId partition = cluster.newPartition("retention.ms", "-1");
        cluster.sealed(partition, 2);
        cluster.nowMs += 61_000;
        cluster.offloadAll();
        cluster.done(Cluster.advance(partition, 0, 10));
        cluster.plan();
        assertThat(cluster.partition(partition).chain().size()).isEqualTo(2);
        assertThat(cluster.image().taskIndex().deadObjects()).isEmpty();
        cluster.done(Cluster.advance(partition, 0, 20));
        cluster.plan();
        assertThat(cluster.image().taskIndex().deadObjects()).hasSize(1);
    }

    @Test
    void aRecordTimeInTheFutureDoesNotKeepASegmentForEver() {
        SegmentDescriptor segment = cluster.sealed(cluster.newPartition(), 1).get(0);
        SegmentDescriptor future = Segments.sealed(
                Segments.opened(segment, 0), 10, segment.replicas(), List.of(), 1, segment.sealedMs() + 1_000_000, 5);
        assertThat(future.ageStampMs()).isEqualTo(5);
    }

    @Test
    void retentionBySizeKeepsAtLeastTheConfiguredBytes() {
        PartitionId partition = cluster.newPartition("retention.bytes", "2500", "retention.ms", "-1");
        cluster.sealed(partition, 5);
        cluster.plan();
        assertThat(cluster.partition(partition).logStartOffset()).isEqualTo(20);
    }

    @Test
    void aCompactedTopicIsNotSubjectToRetention() {
        PartitionId partition = cluster.newPartition("cleanup.policy", "compact", "retention.ms", "1000");
        cluster.sealed(partition, 2);
        cluster.nowMs += 50_000;
        cluster.plan();
        assertThat(cluster.partition(partition).logStartOffset()).isZero();
    }

    @Test
    void aDeletedTopicIsClearedAwayByPositiveOrdersAndThenForgotten_I9() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        cluster.sealed(partition, 3);
        cluster.nowMs += 2_000;
        cluster.offloadAll();
        cluster.allocated(partition);
        cluster.done(MetadataCommand.newBuilder()
                .setDeleteTopic(DeleteTopicCommand.newBuilder().setId(ProtoModel.toProto(partition.topic()))));
        assertThat(cluster.image().topic("t")).isEmpty();
        assertThat(cluster.image().partition(partition)).isEmpty();
        cluster.plan();
        assertThat(cluster.tasks(DeleteReplica.class))
                .as("4 segments and a pending one, 3 replicas each")
                .hasSize(15);
        assertThat(cluster.image().partitionIndex().condemned()).isEmpty();
        cluster.tasks(DeleteReplica.class).forEach(cluster::complete);
        cluster.nowMs += ClusterConfigSchema.OBJECT_GRACE_MS_DEFAULT;
        cluster.plan();
        cluster.tasks(DeleteObject.class).forEach(cluster::complete);
        assertThat(cluster.image().tasks()).isEmpty();
        assertThat(cluster.image().taskIndex().deadObjects()).isEmpty();
        assertThat(cluster.image().segmentIndex()).isEqualTo(SegmentIndex.EMPTY);
        cluster.topic("t", 1, 1);
    }

    @Test
    void trimmingTakesBackAnUploadThatIsUnderWay_O6() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        cluster.sealed(partition, 1);
        cluster.nowMs += 1_000;
        cluster.plan();
        Offload offload = cluster.tasks(Offload.class).get(0);
        ObjectRef object = cluster.objectOf(offload);
        cluster.done(Cluster.advance(partition, 0, 10));
        cluster.plan();
        cluster.refused(Cluster.commit(offload, object), Reason.NOT_FOUND);
        assertThat(cluster.image().taskIndex().deadObjects()).containsKey(object.key());
    }
}
