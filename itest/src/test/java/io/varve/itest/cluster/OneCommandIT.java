package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.cli.process.ChildProcess;
import io.varve.cli.role.RoleProcess;
import io.varve.testing.TestPorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The two commands at the top of the README. */
class OneCommandIT {

    private static final Duration PATIENCE = Duration.ofMinutes(6);

    @TempDir
    Path directory;

    @Test
    void theDemoChecksEveryRecordAndEndsWithZero() throws Exception {
        Path log = directory.resolve("demo.out");
        try (ChildProcess demo = ChildProcess.start(
                "demo",
                Distribution.command("512m", List.of("demo", "--lines", "60000", "--partitions", "2")),
                "PASSED",
                log)) {
            assertThat(demo.awaitExit(PATIENCE))
                    .as(String.join("\n", demo.lastLines()))
                    .hasValue(0);
        }
        assertThat(Files.readString(log))
                .contains("PASSED: every record is there, unchanged and in order.", "object")
                .doesNotContain("WRONG");
    }

    @Test
    void theDemoTakesATextFileAndRefusesOneThatIsNotThere() throws Exception {
        Path file = directory.resolve("input.txt");
        try (var lines = Files.newBufferedWriter(file)) {
            for (int line = 0; line < 60_000; line++) {
                lines.write("word" + line % 100 + " " + "x".repeat(100) + line + "\n");
            }
        }
        try (ChildProcess demo = demo("--partitions", "1", file.toString())) {
            assertThat(demo.awaitExit(PATIENCE))
                    .as(String.join("\n", demo.lastLines()))
                    .hasValue(0);
        }
        try (ChildProcess demo = demo(directory.resolve("absent.txt").toString())) {
            assertThat(demo.awaitExit(PATIENCE)).hasValue(2);
        }
    }

    @Test
    void standaloneKeepsItsDataThroughKillMinusNineAndStopsWithZero() throws Exception {
        TestPorts ports = TestPorts.own();
        int port = ports.getAsInt();
        List<String> arguments = List.of(
                "standalone",
                "--while-input-open",
                "--data-dir",
                directory.resolve("data").toString(),
                "--port",
                Integer.toString(port),
                "--internal-port",
                Integer.toString(ports.inARow(5)));
        String bootstrap = "127.0.0.1:" + port;
        AckLog acks = new AckLog(2);
        try (ChildProcess first = standalone(arguments)) {
            ProcessCluster.awaitReady(first);
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
                admin.createTopics(List.of(new NewTopic("kept", 2, (short) -1)))
                        .all()
                        .get(60, TimeUnit.SECONDS);
            }
            try (NumberedProducer producer = new NumberedProducer(bootstrap, "kept", 100, acks, PATIENCE)) {
                producer.start(1, 10_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(producer.failure()).isNull();
            }
            first.kill();
        }
        try (ChildProcess second = standalone(arguments)) {
            ProcessCluster.awaitReady(second);
            ReadBack.of(bootstrap, "kept", 2, PATIENCE).isExactly(acks);
            second.terminate();
            assertThat(second.awaitExit(PATIENCE))
                    .as(String.join("\n", second.lastLines()))
                    .hasValue(0);
        }
    }

    private ChildProcess demo(String... arguments) throws IOException {
        List<String> all = new ArrayList<>(List.of("demo"));
        all.addAll(List.of(arguments));
        return ChildProcess.start(
                "demo", Distribution.command("512m", all), "PASSED", directory.resolve("demo-file.out"));
    }

    private ChildProcess standalone(List<String> arguments) throws IOException {
        return ChildProcess.start(
                "standalone",
                Distribution.command("768m", arguments),
                RoleProcess.READY,
                directory.resolve("standalone.out"));
    }
}
