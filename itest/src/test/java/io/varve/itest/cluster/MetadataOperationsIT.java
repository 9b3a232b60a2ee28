package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.varve.base.StartupException.Reason;
import io.varve.cli.process.ChildProcess;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataMember;
import io.varve.metadata.client.RemoteMetadataClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** I-13, and the metadata service as its operators meet it: nodes in processes of their own, killed, paused, added and removed, and the commands for it. */
@Timeout(360)
class MetadataOperationsIT {

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    @TempDir
    Path directory;

    private static int leader(RemoteMetadataClient client) {
        return MetadataProcesses.status(client).leaderId();
    }

    private static List<Integer> members(RemoteMetadataClient client) {
        return MetadataProcesses.status(client).members().stream()
                .map(MetadataMember::id)
                .sorted()
                .toList();
    }

    private static MetadataView newest(RemoteMetadataClient client) {
        MetadataView[] view = {null};
        Await.until("a linearizable view", PATIENCE, () -> {
            try {
                view[0] = client.linearizable().join();
                return true;
            } catch (CompletionException later) {
                return false;
            }
        });
        return view[0];
    }

    private static void awaitDirectoryIsMembers(MetadataProcesses nodes, int id) {
        Await.until(
                "node " + id + " to have caught up",
                PATIENCE,
                () -> !Files.exists(nodes.directoryOf(id).resolve("joining"))
                        && Files.exists(nodes.directoryOf(id).resolve("members")));
    }

    @Test
    void nodesAreAddedAndRemovedByCommandsUnderLoad() throws Exception {
        try (MetadataProcesses nodes = new MetadataProcesses(directory).start(1, 2, 3)) {
            String three = nodes.servers(List.of(1, 2, 3));
            RemoteMetadataClient client = nodes.client(1, 2, 3);
            CommandLoad load = CommandLoad.startSteady(client, "t");

            ChildProcess fourth = nodes.launch(4, List.of(1, 2, 3, 4));
            Await.until(
                    "node 4 to wait for being added",
                    PATIENCE,
                    () -> String.join("\n", fourth.lastLines()),
                    () -> fourth.lastLines().stream()
                            .anyMatch(line ->
                                    line.contains("event=waiting") && line.contains("varve metadata add-node 4@")));
            CommandRun added = CommandRun.of(
                    "metadata",
                    "add-node",
                    nodes.servers(List.of(4)),
                    "--raft-port",
                    "" + nodes.raftPort(4),
                    "--metadata",
                    three);
            assertThat(added.exitCode()).as(added.output()).isZero();
            assertThat(added.output()).contains("4 members").contains("no more failures than 3 would");
            ProcessCluster.awaitReady(fourth);
            ChildProcess fifth = nodes.launch(5, List.of(1, 2, 3, 4, 5));
            added = addWhenItRuns(nodes, 5, three);
            assertThat(added.exitCode()).as(added.output()).isZero();
            ProcessCluster.awaitReady(fifth);
            assertThat(members(client)).containsExactly(1, 2, 3, 4, 5);
            load.awaitMore(50, PATIENCE);

            CommandRun again = addWhenItRuns(nodes, 5, three);
            assertThat(again.exitCode()).isEqualTo(1);
            assertThat(again.output()).contains("node 5 is a member already");

            // Five nodes bear two failures, the leader's among them.
            int leader = leader(client);
            int other = leader == 1 ? 2 : 1;
            nodes.process(leader).kill();
            nodes.process(other).kill();
            load.awaitMore(50, PATIENCE);
            for (int id : List.of(leader, other)) {
                CommandRun removed = CommandRun.of("metadata", "remove-node", "" + id, "--metadata", nodes.servers());
                assertThat(removed.exitCode()).as(removed.output()).isZero();
            }
            assertThat(members(client)).hasSize(3).doesNotContain(leader, other);

            CommandRun unknown = CommandRun.of("metadata", "remove-node", "" + other, "--metadata", nodes.servers());
            assertThat(unknown.exitCode()).isEqualTo(1);
            assertThat(unknown.output()).contains("node " + other + " is no member");

            // Of three one is dead: the two left are needed both.
            int third = members(client).stream()
                    .filter(id -> id != leader(client))
                    .findFirst()
                    .orElseThrow();
            nodes.process(third).kill();
            int alive = members(client).stream()
                    .filter(id -> id != third)
                    .findFirst()
                    .orElseThrow();
            CommandRun refused = CommandRun.of("metadata", "remove-node", "" + alive, "--metadata", nodes.servers());
            assertThat(refused.exitCode()).as(refused.output()).isEqualTo(1);
            assertThat(refused.output()).contains("they would have no quorum");
            CommandRun status = CommandRun.of("metadata", "status", "--metadata", nodes.servers());
            assertThat(status.exitCode()).as(status.output()).isZero();
            assertThat(status.output()).contains("leader").contains("follower").contains("silent");
            load.stop().check(newest(client));

            nodes.process(alive).kill();
            Await.until(
                    "the last one to notice that there is no quorum",
                    PATIENCE,
                    () -> CommandRun.of("metadata", "status", "--metadata", nodes.servers())
                            .output(),
                    () -> statusCode(nodes) != 0);
            assertThat(statusCode(nodes)).isEqualTo(Reason.NO_QUORUM.exitCode());
            CommandRun backup = CommandRun.ofProcess(
                    directory,
                    "metadata",
                    "backup",
                    directory.resolve("backup").toString(),
                    "--metadata",
                    nodes.servers(),
                    "--timeout-ms",
                    "3000");
            assertThat(backup.exitCode()).as(backup.output()).isEqualTo(Reason.NO_QUORUM.exitCode());
            assertThat(backup.output()).contains("varve metadata backup: No quorum");
        }
    }

    private static int statusCode(MetadataProcesses nodes) {
        return CommandRun.of("metadata", "status", "--metadata", nodes.servers())
                .exitCode();
    }

    private static CommandRun addWhenItRuns(MetadataProcesses nodes, int id, String servers) {
        CommandRun[] result = {null};
        Await.until("node " + id + " to answer", PATIENCE, () -> {
            result[0] = CommandRun.of(
                    "metadata",
                    "add-node",
                    nodes.servers(List.of(id)),
                    "--raft-port",
                    "" + nodes.raftPort(id),
                    "--metadata",
                    servers);
            return !result[0].output().contains("does not answer");
        });
        return result[0];
    }

    @Test
    void noCommandIsLostOrDoubledWhileLeadersAreKilled() throws Exception {
        try (MetadataProcesses nodes = new MetadataProcesses(directory)
                .with("metadata.snapshot.entries", "200")
                .with("metadata.log.preserved.entries", "50")
                .start(1, 2, 3)) {
            RemoteMetadataClient client = nodes.client(1, 2, 3);
            CommandLoad load = CommandLoad.start(client, "t");
            for (int round = 0; round < 3; round++) {
                load.awaitMore(50, PATIENCE);
                int leader = leader(client);
                nodes.process(leader).kill();
                load.awaitMore(50, PATIENCE);
                ProcessCluster.awaitReady(nodes.launch(leader, List.of(1, 2, 3)));
            }
            // All at once, as when the power fails.
            List.of(1, 2, 3).forEach(id -> nodes.process(id).killWithoutWaiting());
            List.of(1, 2, 3).forEach(id -> nodes.process(id).kill());
            for (int id : List.of(1, 2, 3)) {
                nodes.launch(id, List.of(1, 2, 3));
            }
            load.awaitMore(50, PATIENCE);
            load.stop().check(newest(client));
            load.check(newest(nodes.client(1, 2, 3)));
        }
    }

    /** I-17: also where its log stands still, and it was found to lead at this very entry a moment before. */
    @Test
    void aLeaderThatWasPausedAnswersNoReadFromItsPast() throws Exception {
        try (MetadataProcesses nodes = new MetadataProcesses(directory).start(1, 2, 3)) {
            RemoteMetadataClient client = nodes.client(1, 2, 3);
            CommandLoad load = CommandLoad.startSteady(client, "t");
            load.awaitMore(20, PATIENCE);
            load.stop();
            int paused = leader(client);
            RemoteMetadataClient ofPaused = nodes.client(paused);
            ofPaused.linearizable().join();
            nodes.process(paused).pause();
            try {
                Await.until(
                        "another leader",
                        PATIENCE,
                        () -> MetadataProcesses.status(client).toString(),
                        () -> leader(client) != paused);
                client.createTopic("meanwhile", 1, 1, Map.of()).join();
                var read = ofPaused.linearizable();
                nodes.process(paused).resume();
                try {
                    assertThat(read.join().topic("meanwhile"))
                            .as("a read that began after the write ended")
                            .isPresent();
                } catch (CompletionException refused) {
                    assertThat(refused.getCause())
                            .isInstanceOfSatisfying(
                                    MetadataException.class,
                                    e -> assertThat(e.reason()).isEqualTo(MetadataException.Reason.UNAVAILABLE));
                }
            } finally {
                nodes.process(paused).resume();
            }
            load.check(newest(client));
        }
    }

    /** Nobody can have taken its place: to step down would break every watch for nothing. */
    @Test
    void aSingleNodeThatStoodStillLeadsOnInTheSameTerm() throws Exception {
        try (MetadataProcesses nodes = new MetadataProcesses(directory).start(1)) {
            RemoteMetadataClient client = nodes.client(1);
            CommandLoad load = CommandLoad.startSteady(client, "t");
            load.awaitMore(5, PATIENCE);
            long term = MetadataProcesses.status(client).term();
            nodes.process(1).pause();
            long untilNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
            Await.until("a long pause", PATIENCE, () -> System.nanoTime() - untilNs > 0);
            nodes.process(1).resume();
            load.awaitMore(20, PATIENCE);
            assertThat(MetadataProcesses.status(client).term()).isEqualTo(term);
            load.stop().check(newest(client));
        }
    }

    @Test
    void anOlderCopyOfADirectoryIsRefusedAndTheNodeComesBackEmpty() throws Exception {
        try (MetadataProcesses nodes = new MetadataProcesses(directory).start(1, 2, 3)) {
            RemoteMetadataClient client = nodes.client(1, 2, 3);
            CommandLoad load = CommandLoad.startSteady(client, "t");
            load.awaitMore(100, PATIENCE);
            int copied = leader(client) % 3 + 1;
            Path original = nodes.directoryOf(copied);
            Path copy = directory.resolve("last-week");
            nodes.process(copied).kill();
            copyAll(original, copy);
            ProcessCluster.awaitReady(nodes.launch(copied, List.of(1, 2, 3)));
            load.awaitMore(100, PATIENCE);
            nodes.process(copied).kill();

            // Its own directory is fine.
            ProcessCluster.awaitReady(nodes.launch(copied, List.of(1, 2, 3)));
            load.awaitMore(20, PATIENCE);
            nodes.process(copied).kill();

            deleteAll(original);
            copyAll(copy, original);
            ChildProcess old = nodes.launch(copied, List.of(1, 2, 3));
            assertThat(old.awaitExit(PATIENCE)).hasValue(Reason.DIRECTORY_FOREIGN.exitCode());
            assertThat(String.join("\n", old.lastLines()))
                    .contains("it is an older copy")
                    .contains("Empty it");

            // The others remember it over their own restarts as well: not even all of them at once make it forget.
            List<Integer> others = Stream.of(1, 2, 3).filter(id -> id != copied).toList();
            others.forEach(id -> nodes.process(id).killWithoutWaiting());
            others.forEach(id -> nodes.process(id).kill());
            ChildProcess oldAgain = nodes.launch(copied, List.of(1, 2, 3));
            nodes.launch(others.get(0), List.of(1, 2, 3));
            assertThat(oldAgain.awaitExit(PATIENCE)).hasValue(Reason.DIRECTORY_FOREIGN.exitCode());
            nodes.launch(others.get(1), List.of(1, 2, 3));

            deleteAll(original);
            ProcessCluster.awaitReady(nodes.launch(copied, List.of(1, 2, 3)));
            awaitDirectoryIsMembers(nodes, copied);
            assertThat(members(client)).containsExactly(1, 2, 3);
            load.stop().check(newest(client));
        }
    }

    @Test
    void aDirectoryOfAnotherClusterIsRefused() throws Exception {
        Path stolen = directory.resolve("stolen");
        try (MetadataProcesses other = new MetadataProcesses(directory.resolve("other")).start(1, 2, 3)) {
            newest(other.client(1, 2, 3));
            other.process(3).kill();
            copyAll(other.directoryOf(3), stolen);
        }
        try (MetadataProcesses nodes = new MetadataProcesses(directory.resolve("mine")).start(1, 2, 3)) {
            newest(nodes.client(1, 2, 3));
            nodes.process(3).kill();
            deleteAll(nodes.directoryOf(3));
            copyAll(stolen, nodes.directoryOf(3));
            ChildProcess foreign = nodes.launch(3, List.of(1, 2, 3));
            assertThat(foreign.awaitExit(PATIENCE)).hasValue(Reason.DIRECTORY_FOREIGN.exitCode());
            assertThat(String.join("\n", foreign.lastLines())).contains("it belongs to cluster");
        }
    }

    @Test
    void aNodeWhoseDiskIsFullEndsAndTheOthersGoOnUntilItIsBack() throws Exception {
        boolean canMount = SmallDisk.isThere(directory.resolve("probe"));
        if (!canMount) {
            System.out.println("SKIPPED full disk of a metadata node: this process may not mount a small one");
        }
        assumeThat(canMount).isTrue();
        // The leader's disk and a follower's, one after the other.
        for (boolean leads : List.of(true, false)) {
            Path home = directory.resolve(leads ? "leader" : "follower");
            try (MetadataProcesses nodes = new MetadataProcesses(home);
                    SmallDisk one = new SmallDisk(nodes.directoryOf(1), 96);
                    SmallDisk two = new SmallDisk(nodes.directoryOf(2), 96);
                    SmallDisk three = new SmallDisk(nodes.directoryOf(3), 96)) {
                nodes.start(1, 2, 3);
                RemoteMetadataClient client = nodes.client(1, 2, 3);
                // The disk is full when the part of the log's file that is there already has been written to.
                CommandLoad load = CommandLoad.startWide(client, "t");
                load.awaitMore(20, PATIENCE);
                int full = leads ? leader(client) : leader(client) % 3 + 1;
                SmallDisk disk = List.of(one, two, three).get(full - 1);
                disk.fill();
                ChildProcess process = nodes.process(full);
                assertThat(process.awaitExit(PATIENCE))
                        .as("the process of the full disk")
                        .hasValue(1);
                assertThat(process.lastLines())
                        .last()
                        .asString()
                        .contains("event=stopped role=metadata")
                        .contains("the disk of");
                load.awaitMore(100, PATIENCE);

                disk.free();
                ProcessCluster.awaitReady(nodes.launch(full, List.of(1, 2, 3)));
                load.awaitMore(20, PATIENCE);
                load.stop().check(newest(client));
                CommandRun status = CommandRun.of("metadata", "status", "--metadata", nodes.servers(List.of(1, 2, 3)));
                assertThat(status.output()).doesNotContain("silent");
            }
        }
    }

    private static void copyAll(Path from, Path to) throws IOException {
        try (Stream<Path> all = Files.walk(from)) {
            for (Path path : all.toList()) {
                Path target = to.resolve(from.relativize(path).toString());
                if (Files.isDirectory(path)) {
                    Files.createDirectories(target);
                } else {
                    Files.copy(path, target);
                }
            }
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
