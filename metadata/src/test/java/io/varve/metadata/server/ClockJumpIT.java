package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.api.MetadataClient.Seal;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.MetadataCluster;
import io.varve.metadata.testing.SetClock;
import io.varve.protocol.runtime.SystemClock;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A metadata node's wall clock is set an hour ahead or back while it leads: nothing is deleted early, and nobody is presumed gone. */
@Timeout(180)
class ClockJumpIT {

    private static final long HOUR_MS = 3_600_000;
    private static final long RETENTION_MS = 600_000;

    @TempDir
    Path directory;

    /** A partition with two sealed segments of records that were written just now, and an open one. */
    private static PartitionId written(MetadataClient client) {
        for (int id = 1; id <= 3; id++) {
            client.registerBookie(new BookieRegistration(
                            new BookieId(id), id, List.of(100L + id), "", "localhost", 9000 + id, 1 << 30, 1 << 30))
                    .join();
        }
        client.registerBroker(new BrokerInfo(1, 11, "", List.of(), BrokerInfo.State.LIVE))
                .join();
        Topic topic = client.createTopic("t", 1, 3, Map.of("retention.ms", Long.toString(RETENTION_MS)))
                .join();
        PartitionId partition = new PartitionId(topic.id(), 0);
        Optional<Seal> seal = Optional.empty();
        for (int i = 0; i < 3; i++) {
            SegmentDescriptor next =
                    client.allocateSegment(partition, 0, 100L * i, Set.of()).join();
            client.roll(new MetadataClient.Roll(partition, 0, seal, next.id())).join();
            Set<BookieId> holders = Set.of(new BookieId(1), new BookieId(2), new BookieId(3));
            seal = Optional.of(new Seal(next.id(), 100L * (i + 1), 1_000, SystemClock.INSTANCE.wallTimeMs(), holders));
        }
        return partition;
    }

    private static void assertUnharmed(MetadataClient client, PartitionId partition) throws Exception {
        MetadataView view = client.linearizable().get(20, TimeUnit.SECONDS);
        PartitionState state = view.partition(partition).orElseThrow();
        assertThat(state.logStartOffset()).as("nothing is deleted early").isZero();
        assertThat(state.chain().segments()).hasSize(3);
        assertThat(state.epoch()).as("the owner stays").isZero();
        assertThat(view.brokers()).allMatch(broker -> broker.state() == BrokerInfo.State.LIVE);
        assertThat(view.bookies()).allMatch(bookie -> bookie.state() == BookieInfo.State.WRITABLE);
    }

    /** Waits until the leader has seen how its clock stands, and the planners have looked several times since. */
    private static void awaitNoticed(
            MetadataCluster cluster, int leader, long aheadMs, String topic, MetadataClient client)
            throws TimeoutException {
        MetadataCluster.await("the leader to look at the clocks", 20_000, () -> {
            double ahead = cluster.gauge(leader, "varve_metadata_clock_ahead_seconds");
            return Math.abs(ahead - aheadMs / 1e3) < 60;
        });
        long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(2);
        MetadataCluster.await("the planners to look", 20_000, () -> System.nanoTime() - untilNs > 0);
        client.createTopic(topic, 1, 1, Map.of()).join();
    }

    @Test
    void aLeadersClockMayJumpByAnHourEitherWay() throws Exception {
        SortedMap<Integer, SetClock> clocks = new TreeMap<>();
        try (MetadataCluster cluster = new MetadataCluster(directory, 3)) {
            for (int id = 1; id <= 3; id++) {
                clocks.put(id, new SetClock());
                cluster.withClock(id, clocks.get(id));
            }
            cluster.startAll();
            RemoteMetadataClient client = cluster.client();
            PartitionId partition = written(client);
            int leader = cluster.awaitLeader();

            clocks.get(leader).set(HOUR_MS);
            awaitNoticed(cluster, leader, HOUR_MS, "ahead", client);
            assertUnharmed(client, partition);

            clocks.get(leader).set(-HOUR_MS);
            awaitNoticed(cluster, leader, -HOUR_MS, "behind", client);
            assertUnharmed(client, partition);

            // One that was wrong before it led, and only one other left to ask.
            clocks.get(leader).set(0);
            int wrong = leader % 3 + 1;
            clocks.get(wrong).set(HOUR_MS);
            cluster.stop(leader);
            int next = cluster.awaitLeader();
            awaitNoticed(cluster, next, next == wrong ? HOUR_MS : 0, "next", client);
            assertUnharmed(client, partition);
            assertThat(cluster.faults()).isEmpty();
        }
    }

    @Test
    void theClockOfASingleNodeIsFollowedSlowly() throws Exception {
        SetClock clock = new SetClock();
        try (MetadataCluster cluster =
                new MetadataCluster(directory, 1).withClock(1, clock).startAll()) {
            RemoteMetadataClient client = cluster.client();
            PartitionId partition = written(client);
            clock.set(HOUR_MS);
            awaitNoticed(cluster, 1, HOUR_MS, "ahead", client);
            assertUnharmed(client, partition);
        }
    }
}
