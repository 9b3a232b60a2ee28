package io.varve.metadata.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.Roll;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataException.Reason;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class InMemoryMetadataTest {

    private final InMemoryMetadata metadata = new InMemoryMetadata(new StepClock(1_000), 7).withBookies(3);
    private final MetadataClient client = metadata.newClient();

    private static BrokerInfo broker(int id) {
        return new BrokerInfo(
                id,
                10 + id,
                "",
                List.of(new BrokerInfo.Endpoint("PLAINTEXT", "PLAINTEXT", "localhost", 9092 + id)),
                BrokerInfo.State.LIVE);
    }

    @Test
    void aPartitionIsWrittenRolledAndTakenOver() {
        client.registerBroker(broker(1)).join();
        NodeSession second = client.registerBroker(broker(2)).join();
        Topic topic = client.createTopic("t", 1, 3, Map.of()).join();
        PartitionId partition = new PartitionId(topic.id(), 0);
        assertThat(client.view().partition(partition).orElseThrow().owner()).isEqualTo(1);

        SegmentDescriptor first =
                client.allocateSegment(partition, 0, 0, Set.of()).join();
        assertThat(first.replicas()).hasSize(3);
        assertThat(first.acks()).isEqualTo(2);
        client.roll(new Roll(partition, 0, Optional.empty(), first.id())).join();

        metadata.expireBroker(1, 11);
        PartitionState orphan = client.view().partition(partition).orElseThrow();
        assertThat(orphan.owner()).isEqualTo(2);
        assertThat(orphan.epoch()).isEqualTo(1);
        assertThat(second.confirmed()).isTrue();

        SegmentDescriptor next =
                client.allocateSegment(partition, 1, 10, Set.of()).join();
        Seal seal = new Seal(first.id(), 10, 100, 5, Set.of(new BookieId(1), new BookieId(2)));
        PartitionState rolled = client.roll(new Roll(partition, 1, Optional.of(seal), next.id()))
                .join();
        assertThat(rolled.chain().segments())
                .extracting(SegmentDescriptor::endOffset)
                .containsExactly(10L, -1L);
        assertThat(rolled.chain().open().orElseThrow().startOffset()).isEqualTo(10);
        assertThat(rolled.chain().first().orElseThrow().unconfirmed()).hasSize(1);
    }

    @Test
    void anOwnerOfAnOlderEpochCanNeitherAllocateNorRoll() {
        client.registerBroker(broker(1)).join();
        Topic topic = client.createTopic("t", 1, 3, Map.of()).join();
        PartitionId partition = new PartitionId(topic.id(), 0);
        metadata.expireBroker(1, 11);
        CompletableFuture<SegmentDescriptor> late = client.allocateSegment(partition, 0, 0, Set.of());
        assertThatThrownBy(late::join)
                .cause()
                .isInstanceOfSatisfying(
                        MetadataException.class, e -> assertThat(e.reason()).isEqualTo(Reason.STALE_EPOCH));
    }

    @Test
    void aListenerThatCommandsInTurnSeesChangesInOrder() {
        List<Long> versions = new ArrayList<>();
        client.subscribe((before, after, delta) -> {
            if (after.topic("a").isPresent() && after.topic("b").isEmpty()) {
                client.createTopic("b", 1, 1, Map.of());
            }
        });
        MetadataClient other = metadata.newClient();
        other.subscribe((before, after, delta) -> versions.add(after.version()));
        client.createTopic("a", 1, 1, Map.of()).join();
        assertThat(versions).isSorted().doesNotHaveDuplicates().hasSizeGreaterThanOrEqualTo(3);
        assertThat(other.view().topic("b")).isPresent();
    }

    @Test
    void aSessionLearnsThatItWasDeclaredDead() {
        NodeSession session = client.registerBroker(broker(1)).join();
        metadata.expireBroker(1, 11);
        assertThat(session.lost()).isCompleted();
        assertThat(session.confirmed()).isFalse();
    }
}
