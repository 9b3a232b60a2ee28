package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.model.Topic;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.metadata.testing.MetadataCluster;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A quorum of metadata nodes goes on through deaths and changes of its members, and without one nothing is said to be done. */
@Timeout(180)
class MetadataQuorumIT {

    @TempDir
    Path directory;

    @Test
    void noCommandIsLostOrDoubledWhileLeadersAreStopped() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            MetadataLoad load = new MetadataLoad(client, "a");
            for (int round = 0; round < 3; round++) {
                int leader = cluster.awaitLeader();
                int before = load.created();
                cluster.stop(leader);
                MetadataCluster.await("writing to go on", 20_000, () -> load.created() > before + 50);
                cluster.start(leader);
            }
            cluster.awaitLeader();
            load.stop();
            load.check(cluster);
            cluster.awaitAlike();
        }
    }

    /** Everything that a watch says of topics, in order, and whether it ever had to begin anew. */
    private static final class Watcher implements MetadataListener {
        private final List<String> seen = new CopyOnWriteArrayList<>();
        private final List<String> wrong = new CopyOnWriteArrayList<>();
        private long version = -1;

        @Override
        public void onChange(MetadataView before, MetadataView after, MetadataDelta delta) {
            if (version >= 0 && before.version() != version) {
                wrong.add("from " + before.version() + ", but " + version + " was the last");
            }
            if (version >= 0 && delta.everything()) {
                wrong.add("everything anew at " + after.version());
            }
            version = after.version();
            delta.topics().forEach(id -> after.topic(id).ifPresent(topic -> seen.add(topic.name())));
        }
    }

    @Test
    void aWatchGoesOnAcrossChangesOfTheLeaderWithoutAGap() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            RemoteMetadataClient watching = cluster.client();
            watching.linearizable().get(20, TimeUnit.SECONDS);
            Watcher watcher = new Watcher();
            watching.subscribe(watcher);
            MetadataLoad load = new MetadataLoad(client, "w");
            for (int round = 0; round < 2; round++) {
                int before = load.created();
                int leader = cluster.awaitLeader();
                MetadataCluster.await("some changes", 20_000, () -> load.created() > before + 30);
                cluster.stop(leader);
                MetadataCluster.await("writing to go on", 20_000, () -> load.created() > before + 60);
                cluster.start(leader);
            }
            load.stop();
            watching.linearizable().get(20, TimeUnit.SECONDS);
            assertThat(watcher.wrong).isEmpty();
            assertThat(watcher.seen).doesNotHaveDuplicates().containsAll(load.names());
        }
    }

    @Test
    void nodesAreAddedAndRemovedWhileTheServiceRuns() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            int first = cluster.awaitLeader();
            client.createTopic("before", 1, 1, Map.of()).join();
            MetadataLoad load = new MetadataLoad(client, "c");

            RaftPeerAddress fourth = MetadataCluster.newPeer(4);
            List<RaftPeerAddress> four = new ArrayList<>(cluster.peers());
            four.add(fourth);
            cluster.start(4, four);
            MetadataCluster.await(
                    "the new node to start",
                    20_000,
                    () -> cluster.nodes().get(4).raft().isPresent());
            client.addNode(new MetadataMember(4, fourth.host(), fourth.raftPort(), fourth.clientPort()))
                    .get(30, TimeUnit.SECONDS);
            assertThat(client.status().join().members())
                    .extracting(MetadataMember::id)
                    .containsExactlyInAnyOrder(1, 2, 3, 4);
            MetadataCluster.await(
                    "the new node to catch up",
                    20_000,
                    () -> cluster.nodes()
                            .get(4)
                            .raft()
                            .filter(raft -> raft.image().topic("before").isPresent())
                            .isPresent());

            // The leader itself is replaced: removed, then stopped. The others go on, the new one among them.
            client.removeNode(first).get(30, TimeUnit.SECONDS);
            MetadataCluster.await(
                    "another leader", 20_000, () -> cluster.leaders().stream().anyMatch(id -> id != first));
            cluster.stop(first);
            int before = load.created();
            MetadataCluster.await("writing to go on", 20_000, () -> load.created() > before + 20);
            load.stop();
            load.check(cluster, "before");
            cluster.awaitAlike();
        }
    }

    @Test
    void withoutAQuorumACommandIsNotSaidToBeDone() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            MetadataLoad.registerBookie(client);
            int leader = cluster.awaitLeader();
            for (int id : List.of(1, 2, 3)) {
                if (id != leader) {
                    cluster.stop(id);
                }
            }
            CompletableFuture<Topic> asked = client.createTopic("t", 1, 1, Map.of());
            assertThatThrownBy(() -> asked.get(3, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
            assertThatThrownBy(() -> RemoteMetadataClient.connect(cluster.options(), 1_500))
                    .isInstanceOfSatisfying(
                            StartupException.class,
                            e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.NO_QUORUM));
            for (int id : List.of(1, 2, 3)) {
                if (id != leader) {
                    cluster.start(id);
                }
            }
            asked.get(25, TimeUnit.SECONDS);
            assertThat(client.linearizable().get(10, TimeUnit.SECONDS).topic("t"))
                    .isPresent();
        }
    }

    @Test
    void aForeignOrLockedDirectoryIsRefused() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3)) {
            cluster.start(1);
            assertThatThrownBy(() -> cluster.start(1))
                    .isInstanceOfSatisfying(
                            StartupException.class,
                            e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DIRECTORY_LOCKED));
            cluster.stop(1);
            Files.move(cluster.directoryOf(1), cluster.directoryOf(2));
            assertThatThrownBy(() -> cluster.start(2))
                    .isInstanceOfSatisfying(
                            StartupException.class,
                            e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DIRECTORY_FOREIGN));
        }
    }
}
