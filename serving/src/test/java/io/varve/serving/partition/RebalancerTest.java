package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.testing.InMemoryMetadata;
import io.varve.sim.SimScheduler;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class RebalancerTest {

    private static final long DELAY_MS = 1_000;

    private final SimScheduler clock = new SimScheduler(1);
    private final InMemoryMetadata service = new InMemoryMetadata(clock, 1).withBookies(3);
    private final MetadataClient metadata = service.newClient();
    private final List<PartitionId> begun = new ArrayList<>();
    private final Rebalancer rebalancer =
            new Rebalancer(1, service::view, clock, DELAY_MS, (partition, successor) -> begun.add(partition));

    private void broker(int id) {
        metadata.registerBroker(new BrokerInfo(id, 100 + id, "", List.of(), BrokerInfo.State.LIVE))
                .join();
    }

    private void tickAfter(long ms) {
        clock.runFor(ms * 1_000_000);
        rebalancer.tick();
    }

    private void handOver() {
        PartitionState partition =
                service.view().partition(begun.get(begun.size() - 1)).orElseThrow();
        metadata.release(partition.id(), partition.epoch(), Optional.empty(), Optional.of(2))
                .join();
    }

    @Test
    void aBrokerThatComesGetsItsShareOneByOneWhenItHasBeenCalm() {
        broker(1);
        metadata.createTopic("t", 6, 3, Map.of()).join();
        tickAfter(DELAY_MS);
        tickAfter(DELAY_MS);
        broker(2);
        tickAfter(1);
        tickAfter(DELAY_MS - 1);
        assertThat(begun).as("not in the midst of things").isEmpty();

        tickAfter(1);
        assertThat(begun).hasSize(1);
        tickAfter(20);
        assertThat(begun).as("the one before has not left yet").hasSize(1);
        handOver();
        tickAfter(20);
        assertThat(begun).hasSize(2);
        handOver();
        tickAfter(20);
        handOver();
        tickAfter(20);

        assertThat(begun).as("three each").hasSize(3);
        assertThat(service.view().ownedBy(2)).hasSize(3);
    }

    @Test
    void aHandoverThatHangsIsNotWaitedForForEver() {
        broker(1);
        metadata.createTopic("t", 6, 3, Map.of()).join();
        broker(2);
        tickAfter(1);
        tickAfter(DELAY_MS);
        tickAfter(4_999);
        assertThat(begun).hasSize(1);
        tickAfter(1);
        assertThat(begun).hasSize(2);
    }

    @Test
    void noDelayMeansNever() {
        Rebalancer never = new Rebalancer(1, service::view, clock, -1, (partition, successor) -> begun.add(partition));
        broker(1);
        metadata.createTopic("t", 6, 3, Map.of()).join();
        broker(2);
        for (int i = 0; i < 10; i++) {
            clock.runFor(DELAY_MS * 1_000_000);
            never.tick();
        }
        assertThat(begun).isEmpty();
    }
}
