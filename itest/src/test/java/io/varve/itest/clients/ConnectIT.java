package io.varve.itest.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.Await;
import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.JavaProgram;
import io.varve.itest.cluster.ProcessCluster;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * A standalone worker of Kafka Connect copies a file's lines through a topic into another file, while the brokers are killed one after the other, and goes on where it
 * was when it is started again.
 */
class ConnectIT {

    private static final Path LIBRARIES =
            Path.of("target", "clients", "connect").toAbsolutePath();
    private static final String TOPIC = "lines";
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void everyLineArrivesInOrderThroughKillsOfBrokersAndARestartOfTheWorker() throws Exception {
        boolean installed = Files.isDirectory(LIBRARIES);
        if (!installed) {
            System.out.println("SKIPPED Connect: run itest/clients/install.sh");
        }
        Assumptions.assumeTrue(installed, "Connect's jars are not here");
        ProcessCluster cluster =
                clusters.start(ClusterShape.of(1, 3, 2).withBroker("offsets.topic.num.partitions", "4"));
        cluster.createTopic(TOPIC, 1, Map.of());
        Path in = clusters.directory().resolve("in.txt");
        Path out = Files.createFile(clusters.directory().resolve("out.txt"));
        Files.createFile(in);
        List<String> command = worker(cluster, in, out);

        Process worker = start(command, "first");
        try {
            append(in, 1, 100);
            awaitLines(out, 100, worker);
            for (int broker = 1; broker <= 2; broker++) {
                cluster.broker(broker).kill();
                append(in, broker * 100 + 1, broker * 100 + 100);
                ProcessCluster.awaitReady(cluster.launchBroker(broker));
                awaitLines(out, broker * 100 + 100, worker);
            }
        } finally {
            stop(worker);
        }
        append(in, 301, 400);
        Process again = start(command, "again");
        try {
            awaitLines(out, 400, again);
        } finally {
            stop(again);
        }
        assertThat(Files.readAllLines(out)).isEqualTo(lines(1, 400));
        System.out.println("TESTED Connect: standalone worker, file source and sink");
    }

    private List<String> worker(ProcessCluster cluster, Path in, Path out) throws IOException {
        Path directory = clusters.directory();
        Path worker = Files.write(
                directory.resolve("worker.properties"),
                List.of(
                        "bootstrap.servers=" + cluster.bootstrap(),
                        "key.converter=org.apache.kafka.connect.storage.StringConverter",
                        "value.converter=org.apache.kafka.connect.storage.StringConverter",
                        "offset.storage.file.filename=" + directory.resolve("source-offsets"),
                        "offset.flush.interval.ms=500",
                        "plugin.discovery=service_load",
                        "listeners=http://127.0.0.1:0",
                        "reconnect.backoff.max.ms=200"));
        Path source = Files.write(
                directory.resolve("source.properties"),
                List.of(
                        "name=source",
                        "connector.class=org.apache.kafka.connect.file.FileStreamSourceConnector",
                        "tasks.max=1",
                        "file=" + in,
                        "topic=" + TOPIC));
        Path sink = Files.write(
                directory.resolve("sink.properties"),
                List.of(
                        "name=sink",
                        "connector.class=org.apache.kafka.connect.file.FileStreamSinkConnector",
                        "tasks.max=1",
                        "file=" + out,
                        "topics=" + TOPIC));
        return JavaProgram.command(
                "300m",
                LIBRARIES + "/*",
                List.of(
                        "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                        "org.apache.kafka.connect.cli.ConnectStandalone",
                        worker.toString(),
                        source.toString(),
                        sink.toString()));
    }

    private Process start(List<String> command, String name) throws IOException {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(
                        clusters.directory().resolve("worker-" + name + ".log").toFile())
                .start();
    }

    /** Gently, so that it stores how far it got. */
    private static void stop(Process worker) throws InterruptedException {
        worker.destroy();
        if (!worker.waitFor(60, TimeUnit.SECONDS)) {
            worker.destroyForcibly();
        }
    }

    private static List<String> lines(int first, int last) {
        return IntStream.rangeClosed(first, last).mapToObj(i -> "line " + i).toList();
    }

    private static void append(Path file, int first, int last) throws IOException {
        Files.write(file, lines(first, last), StandardOpenOption.APPEND);
    }

    private static void awaitLines(Path file, int count, Process worker) {
        Await.until(count + " lines", PATIENCE, () -> {
            assertThat(worker.isAlive()).as("the worker runs").isTrue();
            try {
                return Files.readAllLines(file).size() >= count;
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }
}
