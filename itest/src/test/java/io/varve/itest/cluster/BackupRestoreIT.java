package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.StartupException.Reason;
import io.varve.cli.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** All metadata nodes lose their disks, and a backup of the running cluster brings it back with every record. */
@Timeout(600)
class BackupRestoreIT {

    private static final String TOPIC = "saved";
    private static final int PARTITIONS = 4;
    private static final int RECORDS = 5_000;
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    private static void assertDone(CommandRun result) {
        assertThat(result.exitCode()).as(result.output()).isZero();
    }

    @Test
    void aClusterWhoseMetadataIsLostIsRestoredFromABackupWithEveryRecord() throws Exception {
        Path backup = clusters.directory().resolve("metadata.backup");
        ProcessCluster cluster = clusters.start(ClusterShape.of(3, 3, 2));
        String servers = cluster.layout().metadataServers();
        cluster.createTopic(TOPIC, PARTITIONS, Map.of());
        AckLog acks = new AckLog(PARTITIONS);

        write(cluster, acks, 1);
        assertDone(CommandRun.of("metadata", "backup", backup.toString(), "--metadata", servers));
        CommandRun twice = CommandRun.of("metadata", "backup", backup.toString(), "--metadata", servers);
        assertThat(twice.exitCode()).as(twice.output()).isEqualTo(Reason.BAD_CONFIG.exitCode());
        assertThat(twice.output()).contains("no backup is overwritten");
        // What is written into segments that the backup knows is found again on their bookies.
        write(cluster, acks, RECORDS + 1);

        CommandRun overLog = CommandRun.of("metadata", "restore", backup.toString(), "--into", directory(cluster, 1));
        assertThat(overLog.exitCode()).as(overLog.output()).isEqualTo(Reason.DIRECTORY_FOREIGN.exitCode());
        cluster.killAll();
        for (int id = 1; id <= 3; id++) {
            deleteAll(Path.of(directory(cluster, id)));
        }

        CommandRun damaged =
                CommandRun.of("metadata", "restore", damagedCopyOf(backup), "--into", directory(cluster, 1));
        assertThat(damaged.exitCode()).as(damaged.output()).isEqualTo(1);
        assertThat(damaged.output()).contains("The snapshot").contains("damaged.backup");
        CommandRun restored = CommandRun.of("metadata", "restore", backup.toString(), "--into", directory(cluster, 1));
        assertDone(restored);
        assertThat(restored.output()).contains("Restored cluster").contains("topics");
        ProcessCluster.awaitReady(cluster.launchMetadata(1));
        for (int id = 2; id <= 3; id++) {
            ChildProcess node = cluster.launchMetadata(id);
            Await.until(
                    "node to wait for being added",
                    PATIENCE,
                    () -> String.join("\n", node.lastLines()),
                    () -> node.lastLines().stream().anyMatch(line -> line.contains("varve metadata add-node")));
            assertDone(CommandRun.of(
                    "metadata",
                    "add-node",
                    cluster.layout().metadataNodes().get(id - 1).toString(),
                    "--raft-port",
                    Integer.toString(cluster.layout().raftPorts().get(id - 1)),
                    "--metadata",
                    servers));
            ProcessCluster.awaitReady(node);
        }
        cluster.startBookiesAndBrokers();

        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE).isExactly(acks);
        write(cluster, acks, 2 * RECORDS + 1);
        ReadBack.of(cluster.bootstrap(), TOPIC, PARTITIONS, PATIENCE)
                .isExactly(acks)
                .hasNoDuplicatesAndKeepsOrder(Long.MAX_VALUE);
    }

    private static void write(ProcessCluster cluster, AckLog acks, long first) throws Exception {
        try (NumberedProducer producer = new NumberedProducer(cluster.bootstrap(), TOPIC, 100, acks, PATIENCE)) {
            producer.start(first, RECORDS, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            assertThat(producer.failure()).isNull();
        }
    }

    private static String directory(ProcessCluster cluster, int node) {
        return cluster.layout().metadata(node).get("metadata.data.dir");
    }

    private String damagedCopyOf(Path backup) throws IOException {
        byte[] bytes = Files.readAllBytes(backup);
        bytes[bytes.length / 2] ^= 1;
        return Files.write(clusters.directory().resolve("damaged.backup"), bytes)
                .toString();
    }

    private static void deleteAll(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
