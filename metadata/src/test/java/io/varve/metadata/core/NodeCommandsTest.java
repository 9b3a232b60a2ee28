package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.BookieStateProto;
import io.varve.protocol.meta.ExpireSessionCommand;
import io.varve.protocol.meta.MetadataCommand;
import io.varve.protocol.meta.RemoveBookieCommand;
import io.varve.protocol.meta.SetBookieStateCommand;
import java.util.Collection;
import org.junit.jupiter.api.Test;

class NodeCommandsTest {

    private final Cluster cluster = Cluster.of(3);

    private Collection<PartitionState> partitionsOf(TopicId topic) {
        return cluster.image().partitions(topic);
    }

    @Test
    void aNewTopicIsSpreadEvenlyOverTheBrokersWhateverElseTheyOwn() {
        cluster.topic("old", 10, 1);
        cluster.broker(2);
        cluster.broker(3);
        TopicId topic = cluster.topic("new", 9, 1);
        assertThat(partitionsOf(topic)).extracting(PartitionState::owner).containsOnly(1, 2, 3);
        for (int broker = 1; broker <= 3; broker++) {
            int id = broker;
            assertThat(partitionsOf(topic)).filteredOn(p -> p.owner() == id).hasSize(3);
        }
    }

    @Test
    void theDeadBrokersPartitionsGoToTheOthersAndNothingElseMoves() {
        cluster.broker(2);
        cluster.broker(3);
        TopicId topic = cluster.topic("t", 30, 1);
        cluster.expireBroker(2);
        assertThat(partitionsOf(topic)).filteredOn(p -> p.epoch() == 1).hasSize(10);
        assertThat(partitionsOf(topic)).filteredOn(p -> p.owner() == 1).hasSize(15);
        assertThat(partitionsOf(topic)).filteredOn(p -> p.owner() == 3).hasSize(15);
        assertThat(cluster.image().broker(2).orElseThrow().state()).isEqualTo(BrokerInfo.State.GONE);
    }

    @Test
    void aChangeOfOwnerComesWithASegmentToGoOnIn() {
        cluster.broker(2);
        TopicId topic = cluster.topic("t", 30, 3);
        PartitionId written = new PartitionId(topic, 0);
        cluster.rolled(written, 0);
        cluster.rolled(written, 70);
        cluster.expireBroker(cluster.partition(written).owner());
        assertThat(cluster.image().pendingSegment(written, 0)).isEmpty();
        SegmentDescriptor next = cluster.image().pendingSegment(written, 1).orElseThrow();
        assertThat(next.startOffset()).as("a guess: where the open one started").isEqualTo(70);
        assertThat(next.replicas()).hasSize(3);
        cluster.done(Cluster.roll(
                written,
                1,
                Cluster.seal(cluster.partition(written).chain().open().orElseThrow(), 75),
                next.id()));
        assertThat(partitionsOf(topic))
                .filteredOn(p -> p.epoch() == 1 && !p.id().equals(written))
                .hasSize(14)
                .allMatch(p -> cluster.image().pendingSegment(p.id(), 1).isPresent());
    }

    @Test
    void withTooFewBookiesTheNextOwnerAsksForItself() {
        cluster.broker(2);
        TopicId topic = cluster.topic("t", 2, 3);
        cluster.expireBookie(1);
        cluster.expireBookie(2);
        cluster.expireBroker(2);
        assertThat(partitionsOf(topic))
                .allSatisfy(p -> assertThat(p.owner()).isEqualTo(1))
                .allMatch(p -> cluster.image().pendingSegment(p.id(), p.epoch()).isEmpty());
    }

    @Test
    void withoutABrokerPartitionsWaitForOne() {
        TopicId topic = cluster.topic("t", 4, 1);
        cluster.expireBroker(1);
        assertThat(partitionsOf(topic))
                .allSatisfy(p -> assertThat(p.owner()).isEqualTo(PartitionState.NO_OWNER))
                .allSatisfy(p -> assertThat(p.epoch()).isEqualTo(1));
        cluster.broker(7);
        assertThat(partitionsOf(topic))
                .allSatisfy(p -> assertThat(p.owner()).isEqualTo(7))
                .allSatisfy(p -> assertThat(p.epoch()).isEqualTo(2));
    }

    @Test
    void anIdInUseIsRefusedUnlessItsHolderIsKnownToBeGone() {
        TopicId topic = cluster.topic("t", 2, 1);
        cluster.refused(Cluster.registerBroker(1, 999, false), Reason.DUPLICATE_NODE);
        cluster.done(Cluster.registerBroker(1, 999, true));
        assertThat(partitionsOf(topic))
                .as("the new process knows nothing of the old one's writes: it must take over")
                .allSatisfy(p -> assertThat(p.epoch()).isGreaterThanOrEqualTo(1))
                .allSatisfy(p -> assertThat(p.owner()).isEqualTo(1));
        cluster.refused(Cluster.registerBookie(1, 999, "", false, 1_001L), Reason.DUPLICATE_NODE);
    }

    @Test
    void theSameProcessMayRegisterAgain() {
        TopicId topic = cluster.topic("t", 2, 1);
        cluster.done(Cluster.registerBroker(1, 101, false));
        assertThat(partitionsOf(topic)).allSatisfy(p -> assertThat(p.epoch()).isZero());
    }

    @Test
    void aSessionThatWasReplacedCanNotBeExpiredLater() {
        cluster.topic("t", 2, 1);
        cluster.done(Cluster.registerBroker(1, 999, true));
        cluster.done(MetadataCommand.newBuilder()
                .setExpireSession(ExpireSessionCommand.newBuilder().setBroker(1).setSessionId(101)));
        assertThat(cluster.image().broker(1).orElseThrow().state()).isEqualTo(BrokerInfo.State.LIVE);
    }

    @Test
    void whatLayInADirectoryThatDidNotComeBackIsLost_I5() {
        PartitionId partition = new PartitionId(cluster.topic("t", 1, 3), 0);
        SegmentDescriptor first = cluster.rolled(partition, 0);
        cluster.rolled(partition, 10);
        cluster.expireBookie(2);
        cluster.done(Cluster.registerBookie(2, 777, "", false, 5_555L));
        assertThat(cluster.segment(first.id()).replicas())
                .extracting(Replica::bookie)
                .doesNotContain(new BookieId(2))
                .hasSize(2);
        assertThat(cluster.partition(partition).chain().open().orElseThrow().replicas())
                .as("an open segment's replica set is its owner's business")
                .hasSize(3);
    }

    @Test
    void aReplicaInALostDirectoryIsNotKeptAtTheSeal_I5() {
        PartitionId partition = new PartitionId(cluster.topic("t", 1, 3), 0);
        SegmentDescriptor first = cluster.rolled(partition, 0);
        cluster.expireBookie(2);
        cluster.done(Cluster.registerBookie(2, 777, "", false, 5_555L));
        cluster.rolled(partition, 10, 1, 3);
        assertThat(cluster.segment(first.id()).unconfirmed()).isEmpty();
    }

    /** Found by the cluster simulation: a bookie that was fenced, said what it held, and lost its disk before the seal that names it. */
    @Test
    void aHolderWhoseDirectoryWasLostBeforeTheSealIsNoReplica_I1() {
        PartitionId partition = new PartitionId(cluster.topic("t", 1, 3), 0);
        SegmentDescriptor first = cluster.rolled(partition, 0);
        cluster.expireBookie(2);
        cluster.done(Cluster.registerBookie(2, 777, "", false, 5_555L));
        cluster.rolled(partition, 10, 1, 2, 3);
        assertThat(cluster.segment(first.id()).replicas())
                .extracting(replica -> replica.bookie().value())
                .containsExactlyInAnyOrder(1, 3);
        assertThat(cluster.segment(first.id()).unconfirmed()).isEmpty();
    }

    @Test
    void aDrainOutlivesARestartOfTheBookieAndEndsByAnOperatorOnly() {
        BookieId id = new BookieId(2);
        cluster.done(setBookie(2, 0, BookieStateProto.BOOKIE_DRAINING));
        cluster.expireBookie(2);
        cluster.done(Cluster.registerBookie(2, 777, "", false, 1_002L));
        assertThat(cluster.image().bookie(id).orElseThrow().state()).isEqualTo(BookieInfo.State.DRAINING);
        cluster.done(setBookie(2, 777, BookieStateProto.BOOKIE_WRITABLE));
        assertThat(cluster.image().bookie(id).orElseThrow().state()).isEqualTo(BookieInfo.State.DRAINING);
        cluster.done(setBookie(2, 0, BookieStateProto.BOOKIE_WRITABLE));
        assertThat(cluster.image().bookie(id).orElseThrow().state()).isEqualTo(BookieInfo.State.WRITABLE);
    }

    private static MetadataCommand.Builder setBookie(int id, long session, BookieStateProto state) {
        return MetadataCommand.newBuilder()
                .setSetBookieState(SetBookieStateCommand.newBuilder()
                        .setId(id)
                        .setSessionId(session)
                        .setState(state)
                        .setFreeBytes(1)
                        .setTotalBytes(2));
    }

    @Test
    void aBookieOfWhichSomethingIsNeededCanNotBeRemoved() {
        PartitionId partition = new PartitionId(cluster.topic("t", 1, 3), 0);
        cluster.rolled(partition, 0);
        cluster.rolled(partition, 10);
        MetadataCommand.Builder remove = MetadataCommand.newBuilder()
                .setRemoveBookie(RemoveBookieCommand.newBuilder().setId(2));
        cluster.refused(remove, Reason.INVALID);
        cluster.expireBookie(2);
        cluster.refused(remove, Reason.INVALID);
    }
}
