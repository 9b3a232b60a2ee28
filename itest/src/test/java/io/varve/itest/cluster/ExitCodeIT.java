package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.StartupException.Reason;
import io.varve.cli.process.ChildProcess;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.SortedMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** I-13, and the exit codes: a role that can't start says why in one line and ends with the documented code; one that is told to stop drains and ends with 0. */
class ExitCodeIT {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void sigtermDrainsEveryRoleAndEndsItWithZero() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 3, 1));
        for (ChildProcess process : List.of(cluster.broker(1), cluster.bookie(1), cluster.metadata(1))) {
            process.terminate();
            assertThat(process.awaitExit(PATIENCE)).as(process.name()).hasValue(0);
        }
    }

    @Test
    void anUnknownKeyIsNamedWithTheNearestRightOne() throws Exception {
        ProcessCluster cluster = clusters.prepare(ClusterShape.of(1, 1, 1));
        for (String role : List.of("metadata", "bookie", "broker")) {
            ChildProcess process = launch(role, config(cluster, role), Map.of("metadata.serverz", "1@localhost:1"));
            assertEnds(process, Reason.BAD_CONFIG, "metadata.serverz", "metadata.servers");
        }
    }

    @Test
    void aWrongValueIsNamedWithItsKey() throws Exception {
        ProcessCluster cluster = clusters.prepare(ClusterShape.of(1, 1, 1));
        ChildProcess process = launch("broker", cluster.layout().broker(1), Map.of("node.id", "one"));
        assertEnds(process, Reason.BAD_CONFIG, "node.id", "one");
    }

    @Test
    void aPortThatIsTakenIsNamed() throws Exception {
        ProcessCluster cluster = clusters.prepare(ClusterShape.of(1, 1, 1));
        ProcessCluster.awaitReady(cluster.launchMetadata(1));
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            String port = Integer.toString(taken.getLocalPort());
            ChildProcess bookie = launch(
                    "bookie",
                    cluster.layout().bookie(1),
                    Map.of(
                            "bookie.id",
                            "7",
                            "bookie.data.dirs",
                            clusters.directory().resolve("other").toString(),
                            "bookie.listener",
                            "127.0.0.1:" + port));
            assertEnds(bookie, Reason.PORT_TAKEN, port);
            ChildProcess broker =
                    launch("broker", cluster.layout().broker(1), Map.of("listeners", "PLAINTEXT://127.0.0.1:" + port));
            assertEnds(broker, Reason.PORT_TAKEN, port);
        }
    }

    @Test
    void aDataDirectoryInUseIsNamed() throws Exception {
        ProcessCluster cluster = clusters.start(ClusterShape.of(1, 1, 0));
        Map<String, String> otherPort = Map.of("bookie.listener", "127.0.0.1:0");
        ChildProcess bookie = launch("bookie", cluster.layout().bookie(1), otherPort);
        assertEnds(bookie, Reason.DIRECTORY_LOCKED, "bookie-1");
        ChildProcess metadata = launch("metadata", cluster.layout().metadata(1), Map.of());
        assertEnds(metadata, Reason.DIRECTORY_LOCKED, "metadata-1");
    }

    @Test
    void aDataDirectoryOfAnotherBookieOrClusterIsRefused() throws Exception {
        ProcessCluster one = clusters.start(ClusterShape.of(1, 1, 0));
        String directory = one.layout().bookie(1).get("bookie.data.dirs");
        one.bookie(1).terminate();
        assertThat(one.bookie(1).awaitExit(PATIENCE)).hasValue(0);

        ChildProcess otherId = launch("bookie", one.layout().bookie(1), Map.of("bookie.id", "9"));
        assertEnds(otherId, Reason.DIRECTORY_FOREIGN, directory);

        ProcessCluster other = clusters.start(ClusterShape.of(1, 0, 0));
        ChildProcess otherCluster = launch(
                "bookie",
                one.layout().bookie(1),
                Map.of("metadata.servers", other.layout().metadataServers()));
        assertEnds(otherCluster, Reason.DIRECTORY_FOREIGN, directory);
    }

    @Test
    void withoutAMetadataQuorumABookieAndABrokerGiveUp() throws Exception {
        ProcessCluster cluster = clusters.prepare(ClusterShape.of(3, 1, 1));
        cluster.launchMetadata(1);
        Map<String, String> soon = Map.of("metadata.wait.ms", "3000");
        assertEnds(launch("bookie", cluster.layout().bookie(1), soon), Reason.NO_QUORUM, "metadata");
        assertEnds(launch("broker", cluster.layout().broker(1), soon), Reason.NO_QUORUM, "metadata");
    }

    @Test
    void aBucketThatCannotBeUsedIsNamed() throws Exception {
        ProcessCluster cluster = clusters.prepare(ClusterShape.of(1, 1, 1));
        ProcessCluster.awaitReady(cluster.launchMetadata(1));
        Path file = Files.createFile(clusters.directory().resolve("no-directory"));
        ChildProcess bookie = launch(
                "bookie",
                cluster.layout().bookie(1),
                Map.of("tiering.local.dir", file.resolve("bucket").toString()));
        assertEnds(bookie, Reason.NO_BUCKET, "no-directory");
    }

    private SortedMap<String, String> config(ProcessCluster cluster, String role) {
        return switch (role) {
            case "metadata" -> cluster.layout().metadata(1);
            case "bookie" -> cluster.layout().bookie(1);
            default -> cluster.layout().broker(1);
        };
    }

    private ChildProcess launch(String role, SortedMap<String, String> config, Map<String, String> overrides)
            throws IOException {
        Path log = Files.createTempFile(clusters.directory(), role, ".log");
        return ProcessCluster.launch(role, role, config, overrides, log);
    }

    private static void assertEnds(ChildProcess process, Reason reason, String... named) {
        try (process) {
            OptionalInt code = process.awaitExit(PATIENCE);
            String output = String.join("\n", process.lastLines());
            assertThat(code).as(output).hasValue(reason.exitCode());
            String line = process.lastLines().stream()
                    .filter(printed -> printed.startsWith("varve " + process.name() + ": "))
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("no line says why:\n" + output));
            assertThat(line).contains(named);
            assertThat(output).as("a stack trace helps nobody here").doesNotContain("\tat ");
        }
    }
}
