package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.model.BookieTask.CopyReplica;
import io.varve.metadata.model.BookieTask.DeleteReplica;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.BookieStateProto;
import io.varve.protocol.meta.ConfirmReplicaCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.PlanCommand;
import io.varve.protocol.meta.PlanStep;
import io.varve.protocol.meta.RepairStep;
import io.varve.protocol.meta.ReportLostReplicaCommand;
import io.varve.protocol.meta.SetBookieStateCommand;
import java.util.List;
import org.junit.jupiter.api.Test;

class RepairPlannerTest {

    private final Cluster cluster = Cluster.of(4);

    private PartitionId localOnly() {
        return cluster.newPartition("remote.storage.enable", "false");
    }

    @Test
    void anUnconfirmedReplicaIsWaitedForAndThenToldToCompleteItself() {
        PartitionId partition = localOnly();
        SegmentDescriptor first = cluster.rolled(partition, 0);
        int[] holders = first.replicas().stream()
                .limit(2)
                .mapToInt(r -> r.bookie().value())
                .toArray();
        Replica behind = first.replicas().get(2);
        cluster.rolled(partition, 10, holders);
        cluster.nowMs += 1_000;
        cluster.plan();
        assertThat(cluster.image().tasks()).isEmpty();
        cluster.nowMs += cluster.settings.confirmDelayMs();
        cluster.plan();
        CopyReplica copy = cluster.tasks(CopyReplica.class).get(0);
        assertThat(copy.bookie()).isEqualTo(behind.bookie());
        assertThat(copy.incarnation()).isEqualTo(behind.incarnation());
        assertThat(copy.sources()).hasSize(2);
        cluster.complete(copy);
        assertThat(cluster.segment(first.id()).replicas()).hasSize(3);
        assertThat(cluster.segment(first.id()).unconfirmed()).isEmpty();
        cluster.plan();
        assertThat(cluster.image().tasks()).isEmpty();
    }

    @Test
    void aConfirmedReplicaNeedsNoCopy() {
        PartitionId partition = localOnly();
        SegmentDescriptor first = cluster.rolled(partition, 0);
        int[] holders = first.replicas().stream()
                .limit(2)
                .mapToInt(r -> r.bookie().value())
                .toArray();
        cluster.rolled(partition, 10, holders);
        cluster.done(MetadataCommand.newBuilder()
                .setConfirmReplica(ConfirmReplicaCommand.newBuilder()
                        .setSegment(first.id().value())
                        .setBookie(first.replicas().get(2).bookie().value())));
        cluster.nowMs += 100_000;
        cluster.plan();
        assertThat(cluster.image().tasks()).isEmpty();
        assertThat(cluster.segment(first.id()).replicas()).hasSize(3);
    }

    @Test
    void aBookieThatIsGoneForLongIsReplacedAndOneThatIsRestartingIsNot() {
        PartitionId partition = localOnly();
        SegmentDescriptor first = cluster.sealed(partition, 1).get(0);
        BookieId lost = first.replicas().get(0).bookie();
        cluster.expireBookie(lost.value());
        cluster.nowMs += cluster.settings.repairDelayMs() - 1;
        cluster.plan();
        assertThat(cluster.tasks(CopyReplica.class)).isEmpty();
        cluster.nowMs += 2;
        cluster.plan();
        CopyReplica copy = cluster.tasks(CopyReplica.class).get(0);
        assertThat(first.replicas()).extracting(Replica::bookie).doesNotContain(copy.bookie());
        cluster.complete(copy);
        assertThat(cluster.segment(first.id()).replicas())
                .extracting(Replica::bookie)
                .hasSize(3)
                .contains(copy.bookie())
                .doesNotContain(lost);
        assertThat(cluster.tasks(DeleteReplica.class))
                .singleElement()
                .satisfies(task -> assertThat(task.bookie()).isEqualTo(lost));
    }

    @Test
    void aDrainedBookieIsEmptiedWithoutEverHavingFewerCopies() {
        PartitionId partition = localOnly();
        SegmentDescriptor first = cluster.sealed(partition, 1).get(0);
        BookieId drained = first.replicas().get(0).bookie();
        cluster.done(MetadataCommand.newBuilder()
                .setSetBookieState(SetBookieStateCommand.newBuilder()
                        .setId(drained.value())
                        .setState(BookieStateProto.BOOKIE_DRAINING)));
        cluster.plan();
        assertThat(cluster.segment(first.id()).replicas()).hasSize(3);
        CopyReplica copy = cluster.tasks(CopyReplica.class).get(0);
        cluster.complete(copy);
        cluster.plan();
        assertThat(cluster.segment(first.id()).replicas())
                .extracting(Replica::bookie)
                .hasSize(3)
                .doesNotContain(drained);
    }

    @Test
    void theNewCopyTakesTheRackOfTheOneThatLeaves() {
        Cluster racks = new Cluster();
        for (int id = 1; id <= 6; id++) {
            racks.bookie(id, "rack-" + id % 3, 1_000L + id);
        }
        racks.broker(1);
        PartitionId partition = new PartitionId(racks.topic("t", 1, 3, "remote.storage.enable", "false"), 0);
        for (int i = 0; i <= 20; i++) {
            racks.rolled(partition, i * 10L);
        }
        racks.done(MetadataCommand.newBuilder()
                .setSetBookieState(
                        SetBookieStateCommand.newBuilder().setId(1).setState(BookieStateProto.BOOKIE_DRAINING)));
        racks.plan();
        while (!racks.tasks(CopyReplica.class).isEmpty()) {
            racks.tasks(CopyReplica.class).forEach(racks::complete);
            racks.plan();
        }
        assertThat(racks.partition(partition).chain().segments())
                .filteredOn(segment -> segment.state() == SegmentDescriptor.State.SEALED)
                .hasSize(20)
                .allSatisfy(segment -> assertThat(segment.replicas())
                        .extracting(replica -> racks.image()
                                .bookie(replica.bookie())
                                .orElseThrow()
                                .rack())
                        .containsExactlyInAnyOrder("rack-0", "rack-1", "rack-2"));
    }

    @Test
    void whatHasASingleCopyLeftIsCopiedFirstAndNeedNotWait() {
        PartitionId partition = localOnly();
        int count = 20;
        List<SegmentDescriptor> segments = cluster.sealed(partition, count);
        BookieId lost = segments.get(0).replicas().get(0).bookie();
        cluster.expireBookie(lost.value());
        cluster.nowMs += cluster.settings.repairDelayMs() + 1;
        List<SegmentDescriptor> hit = segments.stream()
                .filter(segment -> Segments.on(segment.replicas(), lost).isPresent())
                .toList();
        Plan plan = Planner.plan(cluster.image(), cluster.nowMs, cluster.settings, Plan.Cursor.START);
        assertThat(plan.underReplicated()).isEqualTo(hit.size());
        cluster.plan();
        int before = cluster.tasks(CopyReplica.class).size();
        SegmentDescriptor last = hit.get(hit.size() - 1);
        assertThat(cluster.tasks(CopyReplica.class))
                .as("no more than bookies take at a time")
                .hasSizeBetween(1, 3 * cluster.settings.copiesPerBookie())
                .noneSatisfy(copy -> assertThat(copy.segment()).isEqualTo(last.id()));

        Replica lostToo = last.replicas().stream()
                .filter(replica -> !replica.bookie().equals(lost))
                .findFirst()
                .orElseThrow();
        cluster.done(MetadataCommand.newBuilder()
                .setReportLostReplica(ReportLostReplicaCommand.newBuilder()
                        .setSegment(last.id().value())
                        .setBookie(lostToo.bookie().value())));
        cluster.plan();
        assertThat(cluster.tasks(CopyReplica.class))
                .hasSize(before + 1)
                .last()
                .satisfies(copy -> assertThat(copy.segment()).isEqualTo(last.id()));
    }

    @Test
    void aLostReplicaIsReplacedElsewhereButTheLastOneIsNeverOrderedAway() {
        PartitionId partition = localOnly();
        SegmentDescriptor first = cluster.sealed(partition, 1).get(0);
        first.replicas()
                .forEach(replica -> cluster.done(MetadataCommand.newBuilder()
                        .setReportLostReplica(ReportLostReplicaCommand.newBuilder()
                                .setSegment(first.id().value())
                                .setBookie(replica.bookie().value()))));
        assertThat(cluster.segment(first.id()).replicas()).hasSize(1);
        assertThat(cluster.tasks(DeleteReplica.class)).hasSize(2);
        cluster.plan();
        CopyReplica copy = cluster.tasks(CopyReplica.class).get(0);
        assertThat(cluster.tasks(DeleteReplica.class))
                .as("a deletion under way would take the new copy with it")
                .noneSatisfy(task -> assertThat(task.bookie()).isEqualTo(copy.bookie()));
    }

    @Test
    void aProposalThatComesLateDoesNotCopyToWhereADeletionIsUnderWay_I9() {
        PartitionId partition = localOnly();
        SegmentDescriptor first = cluster.sealed(partition, 1).get(0);
        Replica lost = first.replicas().get(0);
        cluster.done(MetadataCommand.newBuilder()
                .setReportLostReplica(ReportLostReplicaCommand.newBuilder()
                        .setSegment(first.id().value())
                        .setBookie(lost.bookie().value())));
        cluster.done(MetadataCommand.newBuilder()
                .setPlan(PlanCommand.newBuilder()
                        .addSteps(PlanStep.newBuilder()
                                .setRepair(RepairStep.newBuilder()
                                        .setSegment(first.id().value())
                                        .setBookie(lost.bookie().value())
                                        .setIncarnation(lost.incarnation())))));
        assertThat(cluster.tasks(CopyReplica.class)).isEmpty();
    }

    @Test
    void whatIsInObjectStorageIsNotRepaired() {
        PartitionId partition = cluster.newPartition("segment.bytes", "1024");
        SegmentDescriptor first = cluster.sealed(partition, 1).get(0);
        cluster.nowMs += 1_000;
        cluster.offloadAll();
        cluster.expireBookie(first.replicas().get(0).bookie().value());
        cluster.nowMs += cluster.settings.repairDelayMs() * 2;
        cluster.plan();
        assertThat(cluster.tasks(CopyReplica.class)).isEmpty();
    }
}
