package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.testing.MetadataCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A metadata node that was away or lost what it had gets it from the others, though their logs begin later, and counts only then. */
@Timeout(180)
class MetadataCatchUpIT {

    @TempDir
    Path directory;

    @Test
    void anEmptiedNodeDoesNotMakeAQuorumWithOneThatMayLag() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            cluster.awaitLeader();
            client.createTopic("t", 1, 1, Map.of()).join();
            List.of(1, 2, 3).forEach(cluster::stop);
            deleteAll(cluster.directoryOf(3));
            cluster.start(2);
            MetadataNode emptied = cluster.start(3);
            assertThatThrownBy(() -> RemoteMetadataClient.connect(cluster.options(), 3_000))
                    .as("two of three nodes, but one of them has forgotten everything")
                    .isInstanceOf(StartupException.class);
            assertThat(emptied.raft()).isEmpty();
            cluster.start(1);
            assertThat(client.linearizable().get(20, TimeUnit.SECONDS).topic("t"))
                    .isPresent();
            MetadataCluster.await(
                    "the emptied node to come back",
                    20_000,
                    () -> emptied.raft().isPresent());
            cluster.awaitAlike();
        }
    }

    @Test
    void anEmptiedNodeIsGivenASnapshotAndAllSurviveARestart() throws Exception {
        try (MetadataCluster cluster =
                new MetadataCluster(directory, 3).withSnapshotEvery(100, 0).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            int leader = cluster.awaitLeader();
            int emptied = leader % 3 + 1;
            cluster.stop(emptied);
            deleteAll(cluster.directoryOf(emptied));
            MetadataLoad load = new MetadataLoad(client, "b");
            MetadataCluster.await("a purge", 60_000, () -> cluster.logStartOf(leader) > 100);
            cluster.start(emptied);
            MetadataCluster.await("the emptied node to catch up", 60_000, () -> cluster.logStartOf(emptied) > 100);
            MetadataCluster.await(
                    "the emptied node to count again",
                    30_000,
                    () -> client.status().join().members().size() == 3);
            load.stop();
            load.check(cluster);
            cluster.awaitAlike();

            List.of(1, 2, 3).forEach(cluster::stop);
            cluster.startAll();
            cluster.awaitLeader();
            load.check(cluster);
            cluster.awaitAlike();
        }
    }

    @Test
    void aNodeThatLagsBehindThePurgedLogIsGivenASnapshot() throws Exception {
        try (MetadataCluster cluster =
                new MetadataCluster(directory, 3).withSnapshotEvery(100, 0).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            int leader = cluster.awaitLeader();
            int lagging = leader % 3 + 1;
            client.createTopic("early", 1, 1, Map.of()).join();
            long had = cluster.nodes().get(lagging).raft().orElseThrow().appliedIndex();
            cluster.stop(lagging);
            MetadataLoad load = new MetadataLoad(client, "l");
            MetadataCluster.await("a purge beyond what it has", 60_000, () -> cluster.logStartOf(leader) > had + 100);
            cluster.start(lagging);
            MetadataCluster.await("the node to catch up", 60_000, () -> cluster.logStartOf(lagging) > had + 1);
            load.stop();
            load.check(cluster, "early");
            cluster.awaitAlike();
            assertThat(cluster.nodes().get(lagging).raft().orElseThrow().image().topic("early"))
                    .isPresent();
        }
    }

    /** A file of the log ends with the term: what a leader that died has not got begins with the next file, before which all is purged. */
    @Test
    void aLeaderThatWasAwayCatchesUpThoughTheOthersLogBeginsWhereItsOwnEnds() throws Exception {
        try (MetadataCluster cluster =
                new MetadataCluster(directory, 3).withSnapshotEvery(100, 0).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            int away = cluster.awaitLeader();
            client.createTopic("early", 1, 1, Map.of()).join();
            long had = cluster.lastOf(away);
            MetadataCluster.await(
                    "all to have the same",
                    20_000,
                    () -> List.of(1, 2, 3).stream().allMatch(id -> cluster.lastOf(id) == had));
            cluster.stop(away);
            MetadataLoad load = new MetadataLoad(client, "l");
            int next = cluster.awaitLeader();
            MetadataCluster.await("a purge of what it has", 60_000, () -> cluster.logStartOf(next) > had);
            load.stop();
            assertThat(cluster.logStartOf(next)).isEqualTo(had + 1);

            cluster.start(away);
            long end = cluster.lastOf(next);
            MetadataCluster.await("it to catch up", 60_000, () -> cluster.lastOf(away) >= end);
            load.check(cluster, "early");
            cluster.awaitAlike();
        }
    }

    private static void deleteAll(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
