package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.StartupException;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.api.NodeSession;
import io.varve.metadata.client.Abandon;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.testing.MetadataCluster;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(60)
class SingleMetadataNodeIT {

    private static final long NOW_MS = 1_790_000_000_000L;

    @TempDir
    Path directory;

    private static void registerBookies(MetadataClient client) {
        for (int id = 1; id <= 3; id++) {
            client.registerBookie(new BookieRegistration(
                            new BookieId(id), id, List.of(100L + id), "", "localhost", 9000 + id, 1 << 30, 1 << 30))
                    .join();
        }
    }

    private static BrokerInfo broker(int id, long incarnation) {
        return new BrokerInfo(id, incarnation, "", List.of(), BrokerInfo.State.LIVE);
    }

    /** A broker that takes a thousand partitions over asks for as many things at once: each that was refused came again after pauses that grew. */
    @Test
    void moreCommandsThanCanBeUnderWayWaitForTheirTurn() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 1).startAll()) {
            MetadataClient client = cluster.client();
            client.linearizable().join();
            List<CompletableFuture<MetadataClient.ProducerIdBlock>> blocks = new ArrayList<>();
            for (int i = 0; i < 2_000; i++) {
                blocks.add(client.allocateProducerIds());
            }
            assertThat(blocks.stream().map(block -> block.join().first()).distinct())
                    .hasSize(2_000);
        }
    }

    @Test
    void whatOneClientDoesAnotherSeesAndARestartKeeps() throws Exception {
        PartitionId partition;
        try (MetadataCluster cluster = new MetadataCluster(directory, 1).startAll()) {
            MetadataClient client = cluster.client();
            MetadataClient other = cluster.client();
            registerBookies(client);
            client.registerBroker(broker(1, 11)).join();
            Topic topic =
                    client.createTopic("t", 4, 3, Map.of("retention.ms", "-1")).join();
            partition = new PartitionId(topic.id(), 0);
            SegmentDescriptor segment =
                    client.allocateSegment(partition, 0, 0, Set.of()).join();
            client.roll(new MetadataClient.Roll(partition, 0, Optional.empty(), segment.id()))
                    .join();
            assertThat(other.linearizable()
                            .join()
                            .partition(partition)
                            .orElseThrow()
                            .chain()
                            .open())
                    .map(SegmentDescriptor::id)
                    .contains(segment.id());
            assertThat(cluster.faults()).isEmpty();
        }
        try (MetadataCluster cluster = new MetadataCluster(directory, 1)) {
            // The ports of the first run are free again, but need not be: the log remembers its own, so a single node
            // starts with new ones.
            cluster.startAll();
            MetadataClient client = cluster.client();
            assertThat(client.linearizable()
                            .join()
                            .partition(partition)
                            .orElseThrow()
                            .chain()
                            .open())
                    .isPresent();
            assertThat(client.view().topic("t")).isPresent();
            assertThat(cluster.faults()).isEmpty();
        }
    }

    @Test
    void aBackupIsTheWholeStateAndAServiceBeginsWithIt() throws Exception {
        Path backup = directory.resolve("backup");
        MetadataView saved;
        try (MetadataCluster cluster = new MetadataCluster(directory.resolve("old"), 1).startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookies(client);
            client.registerBroker(broker(1, 11)).join();
            Topic topic =
                    client.createTopic("t", 2, 3, Map.of("retention.ms", "5")).join();
            client.allocateSegment(new PartitionId(topic.id(), 1), 0, 0, Set.of())
                    .join();
            // A leader gives the cluster its id in its first turn, which clients needn't wait for.
            MetadataCluster.await(
                    "the cluster is formed",
                    20_000,
                    () -> !client.view().clusterId().isEmpty());
            assertThat(MetadataBackup.save(client, backup, 10_000).version())
                    .isEqualTo(client.view().version());
            assertThatThrownBy(() -> MetadataBackup.save(client, backup, 10_000))
                    .hasMessageContaining("no backup is overwritten");
            saved = client.view();
            assertThatThrownBy(() -> MetadataBackup.restore(backup, cluster.directoryOf(1), NOW_MS))
                    .isInstanceOf(StartupException.class);
        }
        try (MetadataCluster cluster = new MetadataCluster(directory.resolve("new"), 1)) {
            MetadataBackup.restore(backup, cluster.directoryOf(1), NOW_MS);
            cluster.startAll();
            MetadataClient client = cluster.client();
            MetadataView restored = client.linearizable().get(20, TimeUnit.SECONDS);
            assertThat(restored.clusterId()).isEqualTo(saved.clusterId());
            assertThat(restored.topics()).containsExactlyElementsOf(saved.topics());
            assertThat(restored.version()).isGreaterThanOrEqualTo(NOW_MS);
            assertThat(restored.brokers())
                    .as("nobody's session outlives its service")
                    .allMatch(broker -> broker.state() == BrokerInfo.State.GONE);
            assertThat(client.allocateProducerIds().join().first()).isGreaterThanOrEqualTo(NOW_MS);
            assertThat(client.createTopic("u", 1, 1, Map.of()).join().name()).isEqualTo("u");
            cluster.stop(1);
            cluster.start(1);
            assertThat(client.linearizable().get(20, TimeUnit.SECONDS).topic("u"))
                    .isPresent();
            assertThat(cluster.faults()).isEmpty();
        }
    }

    @Test
    void whatAStoppedNodesDirectoryHoldsCanBeSalvaged() throws Exception {
        Path salvaged = directory.resolve("salvaged");
        MetadataView last;
        try (MetadataCluster cluster = new MetadataCluster(directory.resolve("old"), 1)
                .withSnapshotEvery(100, 0)
                .startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookies(client);
            for (int i = 0; i < 130; i++) {
                client.createTopic("t" + i, 1, 3, Map.of()).join();
            }
            assertThatThrownBy(() -> MetadataBackup.salvage(cluster.directoryOf(1), salvaged))
                    .isInstanceOfSatisfying(
                            StartupException.class,
                            e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DIRECTORY_LOCKED));
            last = client.linearizable().get(20, TimeUnit.SECONDS);
            cluster.stop(1);
            assertThat(MetadataBackup.salvage(cluster.directoryOf(1), salvaged).version())
                    .isGreaterThanOrEqualTo(last.version());
        }
        try (MetadataCluster cluster = new MetadataCluster(directory.resolve("new"), 1)) {
            MetadataBackup.restore(salvaged, cluster.directoryOf(1), NOW_MS);
            cluster.startAll();
            MetadataView restored = cluster.client().linearizable().get(20, TimeUnit.SECONDS);
            assertThat(restored.topics()).containsExactlyElementsOf(last.topics());
            assertThat(cluster.faults()).isEmpty();
        }
    }

    @Test
    void aBrokerWhoseConnectionDropsLosesItsPartitionsSoon() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 1).startAll()) {
            MetadataClient watcher = cluster.client();
            registerBookies(watcher);
            var dying = cluster.client();
            dying.registerBroker(broker(1, 11)).join();
            Topic topic = watcher.createTopic("t", 2, 3, Map.of()).join();
            NodeSession survivor = watcher.registerBroker(broker(2, 22)).join();
            assertThat(watcher.view().ownedBy(1)).hasSize(2);

            var moved = new java.util.concurrent.CompletableFuture<Void>();
            watcher.subscribe((before, after, delta) -> {
                if (after.ownedBy(2).size() == 2) {
                    moved.complete(null);
                }
            });
            long startNs = System.nanoTime();
            Abandon.of(dying);
            moved.get(5, TimeUnit.SECONDS);
            long tookMs = (System.nanoTime() - startNs) / 1_000_000;
            assertThat(tookMs).as("300 ms of grace and a commit").isBetween(250L, 2_000L);
            assertThat(watcher.view().partitions(topic.id()))
                    .allSatisfy(p -> assertThat(p.epoch()).isEqualTo(1));
            assertThat(survivor.lost()).isNotDone();
        }
    }
}
