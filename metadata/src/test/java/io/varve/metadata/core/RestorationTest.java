package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import org.junit.jupiter.api.Test;

class RestorationTest {

    private static final long NOW_MS = Cluster.START_MS + 1_000_000;

    private final Cluster cluster = new Cluster();

    private MetadataImage saved() {
        cluster.bookie(1, "a", 11L);
        cluster.bookie(2, "b", 12L);
        cluster.broker(1);
        TopicId topic = cluster.topic("t", 2, 2);
        cluster.rolled(new PartitionId(topic, 0), 0);
        return cluster.image();
    }

    @Test
    void noIdAndNoEpochIsGivenTwice() {
        MetadataImage saved = saved();
        MetadataImage restored = Restoration.of(saved, NOW_MS);
        assertThat(restored.version()).isGreaterThan(saved.version()).isGreaterThanOrEqualTo(NOW_MS);
        assertThat(restored.counters().nextSegment()).isEqualTo(NOW_MS);
        assertThat(restored.counters().nextTask()).isEqualTo(NOW_MS);
        assertThat(restored.counters().nextProducerId()).isEqualTo(NOW_MS);

        MetadataImage again = Restoration.of(restored, NOW_MS + 1_000);
        for (PartitionState partition : restored.partitionIndex().living().values()) {
            PartitionState before = saved.partition(partition.id()).orElseThrow();
            assertThat(partition.epoch()).isGreaterThan(before.epoch());
            assertThat(partition.chain()).isEqualTo(before.chain());
            assertThat(again.partition(partition.id()).orElseThrow().epoch()).isGreaterThan(partition.epoch());
        }
    }

    @Test
    void nobodyIsAliveUntilItRegisters() {
        MetadataImage restored = Restoration.of(saved(), NOW_MS);
        assertThat(restored.brokers()).hasSize(1).allMatch(broker -> broker.state() == BrokerInfo.State.GONE);
        assertThat(restored.bookies()).hasSize(2).allSatisfy(bookie -> {
            assertThat(bookie.state()).isEqualTo(BookieInfo.State.GONE);
            assertThat(bookie.goneSinceMs()).isEqualTo(NOW_MS);
        });
        assertThat(restored.ownedBy(PartitionState.NO_OWNER)).hasSize(2);
    }

    @Test
    void theSameBackupAtTheSameTimeIsTheSameState() {
        MetadataImage saved = saved();
        MetadataImage one = Restoration.of(saved, NOW_MS);
        MetadataImage two = Restoration.of(saved, NOW_MS);
        assertThat(one).isEqualTo(two);
        assertThat(one.digest()).isEqualTo(two.digest());
    }
}
