package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.AlterTopicConfigsCommand;
import io.varve.protocol.meta.BrokerStateProto;
import io.varve.protocol.meta.ConfigChangeProto;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.SetBrokerStateCommand;
import java.util.List;
import org.junit.jupiter.api.Test;

class SegmentCommandsTest {

    private final Cluster cluster = Cluster.of(3);
    private final PartitionId partition = new PartitionId(cluster.topic("t", 1, 3), 0);

    @Test
    void aRollSealsTheOpenSegmentAndOpensTheNextWhereItEnds() {
        SegmentDescriptor first = cluster.rolled(partition, 0);
        SegmentDescriptor second = cluster.rolled(partition, 17);
        PartitionState state = cluster.partition(partition);
        assertThat(state.chain().segments())
                .extracting(SegmentDescriptor::startOffset, SegmentDescriptor::endOffset)
                .containsExactly(tuple(0L, 17L), tuple(17L, -1L));
        assertThat(cluster.segment(first.id()).sealedMs()).isEqualTo(cluster.nowMs);
        assertThat(second.state()).isEqualTo(SegmentDescriptor.State.OPEN);
    }

    @Test
    void anOwnerOfAnOlderEpochCanDoNothing_I14() {
        SegmentDescriptor open = cluster.rolled(partition, 0);
        SegmentDescriptor prepared = cluster.allocated(partition);
        cluster.broker(2);
        cluster.expireBroker(1);
        assertThat(cluster.partition(partition).epoch()).isEqualTo(1);
        cluster.refused(Cluster.allocate(partition, 0), Reason.STALE_EPOCH);
        cluster.refused(Cluster.roll(partition, 0, Cluster.seal(open, 5), prepared.id()), Reason.STALE_EPOCH);
        cluster.refused(Cluster.release(partition, 0, Cluster.seal(open, 5)), Reason.STALE_EPOCH);
        cluster.refused(Cluster.advance(partition, 0, 1), Reason.STALE_EPOCH);
        // A segment that the older owner prepared is not the newer one's either.
        cluster.refused(Cluster.roll(partition, 1, Cluster.seal(open, 5), prepared.id()), Reason.NOT_FOUND);
    }

    @Test
    void aRollThatNamesAnotherOpenSegmentIsRefused() {
        SegmentDescriptor first = cluster.rolled(partition, 0);
        cluster.rolled(partition, 10);
        SegmentDescriptor next = cluster.allocated(partition);
        cluster.refused(Cluster.roll(partition, 0, Cluster.seal(first, 12), next.id()), Reason.CHAIN_MOVED);
        cluster.refused(Cluster.roll(partition, 0, null, next.id()), Reason.CHAIN_MOVED);
    }

    @Test
    void aSealBelowTheStartOrWithoutAHolderIsRefused() {
        cluster.rolled(partition, 0);
        SegmentDescriptor open = cluster.rolled(partition, 10);
        SegmentDescriptor next = cluster.allocated(partition);
        cluster.refused(Cluster.roll(partition, 0, Cluster.seal(open, 9), next.id()), Reason.INVALID);
        cluster.refused(Cluster.roll(partition, 0, Cluster.seal(open, 12, 99), next.id()), Reason.INVALID);
    }

    @Test
    void anEmptySegmentLeavesTheChainAndItsReplicasAreDeleted() {
        SegmentDescriptor first = cluster.rolled(partition, 0);
        cluster.rolled(partition, 10);
        SegmentDescriptor empty = cluster.partition(partition).chain().open().orElseThrow();
        SegmentDescriptor third = cluster.rolled(partition, 10);
        assertThat(cluster.partition(partition).chain().segments())
                .extracting(SegmentDescriptor::id)
                .containsExactly(first.id(), third.id());
        assertThat(third.startOffset()).isEqualTo(10);
        assertThat(cluster.tasks(BookieTask.DeleteReplica.class))
                .hasSize(3)
                .allSatisfy(task -> assertThat(task.segment()).isEqualTo(empty.id()));
    }

    @Test
    void replicasBehindAtTheSealAreUnconfirmed() {
        SegmentDescriptor first = cluster.rolled(partition, 0);
        cluster.rolled(partition, 10, 1, 3);
        SegmentDescriptor sealed = cluster.segment(first.id());
        assertThat(sealed.replicas())
                .extracting(Replica::bookie)
                .containsExactlyInAnyOrder(new BookieId(1), new BookieId(3));
        assertThat(sealed.unconfirmed()).extracting(Replica::bookie).containsExactly(new BookieId(2));
        assertThat(cluster.image().tasks()).isEmpty();
    }

    @Test
    void aRollDropsTheOtherPendingSegments() {
        cluster.rolled(partition, 0);
        SegmentDescriptor unused = cluster.allocated(partition);
        cluster.rolled(partition, 10);
        assertThat(cluster.image().segment(unused.id())).isEmpty();
        assertThat(cluster.tasks(BookieTask.DeleteReplica.class))
                .hasSize(3)
                .allSatisfy(task -> assertThat(task.segment()).isEqualTo(unused.id()));
    }

    @Test
    void noPartitionHasMoreThanFourPendingSegments() {
        SegmentDescriptor oldest = cluster.allocated(partition);
        for (int i = 0; i < SegmentCommands.PENDING_MAX; i++) {
            cluster.allocated(partition);
        }
        assertThat(cluster.image().segment(oldest.id())).isEmpty();
        assertThat(cluster.image().segmentIndex().pendingOf(partition)).hasSize(SegmentCommands.PENDING_MAX);
    }

    @Test
    void pendingSegmentsOfAnOlderEpochAreDroppedInTheBackground() {
        SegmentDescriptor prepared = cluster.allocated(partition);
        cluster.broker(2);
        cluster.expireBroker(1);
        assertThat(cluster.image().segment(prepared.id())).isPresent();
        cluster.plan();
        assertThat(cluster.image().segment(prepared.id())).isEmpty();
        assertThat(cluster.tasks(BookieTask.DeleteReplica.class)).hasSize(3);
    }

    @Test
    void fewerBookiesThanReplicasAreEnoughAsLongAsTheyAreA() {
        cluster.expireBookie(2);
        assertThat(cluster.allocated(partition).replicas()).hasSize(2);
        cluster.expireBookie(3);
        cluster.refused(Cluster.allocate(partition, 0), Reason.NOT_ENOUGH_BOOKIES);
    }

    @Test
    void bookiesToAvoidAreTakenOnlyIfThereAreTooFewOthers() {
        cluster.bookie(4, "", 1_004L);
        var three = cluster.done(Cluster.allocate(partition, 0, 2));
        assertThat(replicasOf(three.getSegment()))
                .extracting(Replica::bookie)
                .doesNotContain(new BookieId(2))
                .hasSize(3);
        var two = cluster.done(Cluster.allocate(partition, 0, 2, 3));
        assertThat(replicasOf(two.getSegment())).hasSize(2);
        var forced = cluster.done(Cluster.allocate(partition, 0, 1, 2, 3));
        assertThat(replicasOf(forced.getSegment())).hasSize(2);
    }

    private List<Replica> replicasOf(long segment) {
        return cluster.segment(new SegmentId(segment)).replicas();
    }

    @Test
    void aSegmentKeepsTheNumberOfAcknowledgementsThatItWasAllocatedWith_I5() {
        SegmentDescriptor open = cluster.rolled(partition, 0);
        cluster.done(MetadataCommand.newBuilder()
                .setAlterTopicConfigs(AlterTopicConfigsCommand.newBuilder()
                        .setId(ProtoModel.toProto(partition.topic()))
                        .addChanges(ConfigChangeProto.newBuilder()
                                .setKey("min.insync.replicas")
                                .setValue("1"))));
        assertThat(cluster.segment(open.id()).acks()).isEqualTo(2);
        assertThat(cluster.allocated(partition).acks()).isEqualTo(1);
    }

    @Test
    void aReleasedPartitionGoesToAnotherBrokerWithItsChainSealed() {
        cluster.broker(2);
        SegmentDescriptor open = cluster.rolled(partition, 0);
        cluster.done(Cluster.release(partition, 0, Cluster.seal(open, 8)));
        PartitionState released = cluster.partition(partition);
        assertThat(released.owner()).isEqualTo(2);
        assertThat(released.epoch()).isEqualTo(1);
        assertThat(released.chain().open()).isEmpty();
        // The next owner needs no seal: it opens where the chain ends.
        assertThat(cluster.rolled(partition, 0).startOffset()).isEqualTo(8);
    }

    @Test
    void theLastBrokerThatDrainsLeavesItsPartitionsWithoutOwner() {
        cluster.done(MetadataCommand.newBuilder()
                .setSetBrokerState(
                        SetBrokerStateCommand.newBuilder().setId(1).setState(BrokerStateProto.BROKER_DRAINING)));
        assertThat(cluster.image().broker(1).orElseThrow().state()).isEqualTo(BrokerInfo.State.DRAINING);
        assertThat(cluster.partition(partition).owner())
                .as("until it releases it")
                .isEqualTo(1);
        cluster.done(Cluster.release(partition, 0, null));
        assertThat(cluster.partition(partition).owner()).isEqualTo(PartitionState.NO_OWNER);
        cluster.broker(2);
        assertThat(cluster.partition(partition).owner()).isEqualTo(2);
        assertThat(cluster.partition(partition).epoch()).isEqualTo(2);
    }

    @Test
    void theStartOfALogMovesUpWithinTheLogAndNeverBack() {
        SegmentDescriptor open = cluster.rolled(partition, 0);
        cluster.done(Cluster.advance(partition, 0, 5));
        cluster.done(Cluster.advance(partition, 0, 3));
        assertThat(cluster.partition(partition).logStartOffset()).isEqualTo(5);
        cluster.done(Cluster.release(partition, 0, Cluster.seal(open, 8)));
        cluster.refused(Cluster.advance(partition, 1, 9), Reason.INVALID);
    }

    @Test
    void whatLiesBelowTheStartIsTakenAwayButTheLastSegmentSaysWhereTheLogGoesOn() {
        SegmentDescriptor first = cluster.rolled(partition, 0);
        SegmentDescriptor second = cluster.rolled(partition, 10);
        cluster.done(Cluster.release(partition, 0, Cluster.seal(second, 20)));
        cluster.done(Cluster.advance(partition, 1, 20));
        cluster.plan();
        assertThat(cluster.partition(partition).chain().segments())
                .extracting(SegmentDescriptor::id)
                .containsExactly(second.id());
        assertThat(cluster.tasks(BookieTask.DeleteReplica.class))
                .hasSize(3)
                .allSatisfy(task -> assertThat(task.segment()).isEqualTo(first.id()));
        assertThat(cluster.rolled(partition, 0).startOffset()).isEqualTo(20);
        cluster.plan();
        assertThat(cluster.partition(partition).chain().size()).isEqualTo(1);
    }
}
