package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.StartupException;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataClient.BookieRegistration;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.model.Topic;
import io.varve.metadata.raft.RaftNode;
import io.varve.metadata.raft.RaftPeerAddress;
import io.varve.metadata.testing.MetadataCluster;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

@Timeout(180)
class MetadataQuorumIT {

    @TempDir
    Path directory;

    /** Keeps asking, and remembers what was answered. */
    private static final class Load implements AutoCloseable {
        private final MetadataClient client;
        private final AtomicBoolean stop = new AtomicBoolean();
        private final List<String> created = new ArrayList<>();
        private final TreeSet<Long> producerIds = new TreeSet<>();
        private final List<Throwable> refused = new ArrayList<>();
        private int unknown;
        private final Thread thread;

        Load(MetadataClient client, String prefix) {
            this.client = client;
            this.thread = new Thread(() -> run(prefix), "load-" + prefix);
            thread.start();
        }

        private void run(String prefix) {
            for (int i = 0; !stop.get(); i++) {
                String name = prefix + i;
                CompletableFuture<Topic> topic = client.createTopic(name, 1, 1, Map.of());
                CompletableFuture<MetadataClient.ProducerIdBlock> ids = client.allocateProducerIds();
                try {
                    topic.join();
                    created.add(name);
                    if (!producerIds.add(ids.join().first())) {
                        refused.add(new AssertionError("producer ids given twice"));
                    }
                } catch (CompletionException failed) {
                    if (failed.getCause() instanceof MetadataException known
                            && known.reason() == MetadataException.Reason.UNKNOWN_OUTCOME) {
                        unknown++;
                    } else {
                        refused.add(failed.getCause());
                        stop.set(true);
                    }
                }
            }
        }

        void stop() throws InterruptedException {
            close();
            thread.join(60_000);
            assertThat(thread.isAlive()).isFalse();
        }

        /** Sends nothing more. */
        @Override
        public void close() {
            stop.set(true);
        }
    }

    private static void registerBookie(MetadataClient client) {
        client.registerBookie(new BookieRegistration(
                        new BookieId(1), 1, List.of(101L), "", "localhost", 9001, 1 << 30, 1 << 30))
                .join();
    }

    private static void checkLoad(Load load, MetadataCluster cluster, String... others) {
        assertThat(load.refused)
                .as("nothing is refused that nobody else asked for")
                .isEmpty();
        assertThat(load.created).isNotEmpty();
        MetadataClient fresh = cluster.client();
        var view = fresh.linearizable().join();
        assertThat(load.created).allSatisfy(name -> assertThat(view.topic(name)).isPresent());
        assertThat(view.topics().size())
                .isBetween(load.created.size() + others.length, load.created.size() + load.unknown + others.length);
        assertThat(cluster.faults()).isEmpty();
    }

    private static void assertSameDigest(MetadataCluster cluster) throws TimeoutException {
        MetadataCluster.await(
                "all nodes to be alike",
                20_000,
                () -> cluster.nodes().values().stream()
                                .map(node -> node.raft()
                                        .map(raft -> raft.image().version() + "/"
                                                + raft.image().digest())
                                        .orElse("not yet"))
                                .distinct()
                                .count()
                        == 1);
    }

    private static long lastOf(MetadataCluster cluster, int id) {
        return cluster.nodes().get(id).raft().map(RaftNode::lastIndex).orElse(-1L);
    }

    private static long logStartOf(MetadataCluster cluster, int id) {
        return cluster.nodes().get(id).raft().map(RaftNode::logStartIndex).orElse(-1L);
    }

    @Test
    void noCommandIsLostOrDoubledWhileLeadersAreStopped() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookie(client);
            Load load = new Load(client, "a");
            for (int round = 0; round < 3; round++) {
                int leader = cluster.awaitLeader();
                int before = load.created.size();
                cluster.stop(leader);
                MetadataCluster.await("writing to go on", 20_000, () -> load.created.size() > before + 50);
                cluster.start(leader);
            }
            cluster.awaitLeader();
            load.stop();
            checkLoad(load, cluster);
            assertSameDigest(cluster);
        }
    }

    @Test
    void anEmptiedNodeDoesNotMakeAQuorumWithOneThatMayLag() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookie(client);
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
            assertSameDigest(cluster);
        }
    }

    @Test
    void anEmptiedNodeIsGivenASnapshotAndAllSurviveARestart() throws Exception {
        try (MetadataCluster cluster =
                new MetadataCluster(directory, 3).withSnapshotEvery(100, 0).startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookie(client);
            int leader = cluster.awaitLeader();
            int emptied = leader % 3 + 1;
            cluster.stop(emptied);
            deleteAll(cluster.directoryOf(emptied));
            Load load = new Load(client, "b");
            MetadataCluster.await("a purge", 60_000, () -> logStartOf(cluster, leader) > 100);
            cluster.start(emptied);
            MetadataCluster.await("the emptied node to catch up", 60_000, () -> logStartOf(cluster, emptied) > 100);
            MetadataCluster.await(
                    "the emptied node to count again",
                    30_000,
                    () -> client.status().join().members().size() == 3);
            load.stop();
            checkLoad(load, cluster);
            assertSameDigest(cluster);

            List.of(1, 2, 3).forEach(cluster::stop);
            cluster.startAll();
            cluster.awaitLeader();
            checkLoad(load, cluster);
            assertSameDigest(cluster);
        }
    }

    @Test
    void aNodeThatLagsBehindThePurgedLogIsGivenASnapshot() throws Exception {
        try (MetadataCluster cluster =
                new MetadataCluster(directory, 3).withSnapshotEvery(100, 0).startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookie(client);
            int leader = cluster.awaitLeader();
            int lagging = leader % 3 + 1;
            client.createTopic("early", 1, 1, Map.of()).join();
            long had = cluster.nodes().get(lagging).raft().orElseThrow().appliedIndex();
            cluster.stop(lagging);
            Load load = new Load(client, "l");
            MetadataCluster.await("a purge beyond what it has", 60_000, () -> logStartOf(cluster, leader) > had + 100);
            cluster.start(lagging);
            MetadataCluster.await("the node to catch up", 60_000, () -> logStartOf(cluster, lagging) > had + 1);
            load.stop();
            checkLoad(load, cluster, "early");
            assertSameDigest(cluster);
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
            registerBookie(client);
            int away = cluster.awaitLeader();
            client.createTopic("early", 1, 1, Map.of()).join();
            long had = lastOf(cluster, away);
            MetadataCluster.await(
                    "all to have the same",
                    20_000,
                    () -> List.of(1, 2, 3).stream().allMatch(id -> lastOf(cluster, id) == had));
            cluster.stop(away);
            Load load = new Load(client, "l");
            int next = cluster.awaitLeader();
            MetadataCluster.await("a purge of what it has", 60_000, () -> logStartOf(cluster, next) > had);
            load.stop();
            assertThat(logStartOf(cluster, next)).isEqualTo(had + 1);

            cluster.start(away);
            long end = lastOf(cluster, next);
            MetadataCluster.await("it to catch up", 60_000, () -> lastOf(cluster, away) >= end);
            checkLoad(load, cluster, "early");
            assertSameDigest(cluster);
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
            registerBookie(client);
            RemoteMetadataClient watching = cluster.client();
            watching.linearizable().get(20, TimeUnit.SECONDS);
            Watcher watcher = new Watcher();
            watching.subscribe(watcher);
            Load load = new Load(client, "w");
            for (int round = 0; round < 2; round++) {
                int before = load.created.size();
                int leader = cluster.awaitLeader();
                MetadataCluster.await("some changes", 20_000, () -> load.created.size() > before + 30);
                cluster.stop(leader);
                MetadataCluster.await("writing to go on", 20_000, () -> load.created.size() > before + 60);
                cluster.start(leader);
            }
            load.stop();
            watching.linearizable().get(20, TimeUnit.SECONDS);
            assertThat(watcher.wrong).isEmpty();
            assertThat(watcher.seen).doesNotHaveDuplicates().containsAll(load.created);
        }
    }

    @Test
    void nodesAreAddedAndRemovedWhileTheServiceRuns() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookie(client);
            int first = cluster.awaitLeader();
            client.createTopic("before", 1, 1, Map.of()).join();
            Load load = new Load(client, "c");

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
            int before = load.created.size();
            MetadataCluster.await("writing to go on", 20_000, () -> load.created.size() > before + 20);
            load.stop();
            checkLoad(load, cluster, "before");
            assertSameDigest(cluster);
        }
    }

    @Test
    void withoutAQuorumACommandIsNotSaidToBeDone() throws Exception {
        try (MetadataCluster cluster = new MetadataCluster(directory, 3).startAll()) {
            RemoteMetadataClient client = cluster.client();
            registerBookie(client);
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

    private static void deleteAll(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
