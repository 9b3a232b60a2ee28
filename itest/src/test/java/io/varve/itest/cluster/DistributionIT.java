package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.testing.TestPorts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The unpacked distribution, used as a person uses it: by its scripts. */
class DistributionIT {

    private static final Path HOME = Distribution.home();
    private static final Duration PATIENCE = Duration.ofMinutes(6);

    @TempDir
    Path directory;

    @Test
    void theCommandRunsFromAnywhereAndThroughASymbolicLink() throws Exception {
        Path link = Files.createSymbolicLink(directory.resolve("varve-link"), HOME.resolve("bin/varve"));
        assertThat(run(Map.of(), link.toString(), "--version")).startsWith("Varve ");
    }

    @Test
    void aPreparedDistributionMapsItsClasses() throws Exception {
        Distribution.command("128m", List.of()); // prepares it
        Path log = directory.resolve("classes.log");
        run(
                Map.of("VARVE_OPTS", "-Xlog:class+load:file=" + log),
                HOME.resolve("bin/varve").toString(),
                "--version");
        assertThat(Files.readString(log)).contains("io.varve.cli.Main source: shared objects file (top)");
    }

    /** A JVM would take a jar of the same size and date for the same one, and run what was in the old one. */
    @Test
    void classesOfOtherJarsAreNotMapped() throws Exception {
        Path home = directory.resolve("home");
        Path jar = Files.writeString(
                Files.createDirectories(home.resolve("lib")).resolve("varve-deploy-1.jar"), "today's");
        Path script = Files.createDirectories(home.resolve("bin")).resolve("varve");
        Files.copy(HOME.resolve("bin/varve"), script);
        Map<String, String> showing =
                Map.of("JAVA_HOME", javaThatShowsItsOptions().toString());
        Matcher classes = Pattern.compile("-Dvarve\\.classes=(\\S+)").matcher(run(showing, script.toString()));
        assertThat(classes.find()).isTrue();
        Path prepared = Path.of(classes.group(1));
        String option = "-XX:SharedArchiveFile=" + prepared;
        assertThat(run(showing, script.toString())).doesNotContain("SharedArchiveFile");

        Files.createDirectories(prepared.getParent());
        Files.createFile(prepared);
        assertThat(run(showing, script.toString())).contains(option);

        FileTime date = Files.getLastModifiedTime(jar);
        Files.writeString(jar, "another");
        Files.setLastModifiedTime(jar, date);
        assertThat(run(showing, script.toString())).doesNotContain("SharedArchiveFile");
    }

    private Path javaThatShowsItsOptions() throws IOException {
        Path java = directory.resolve("jdk/bin/java");
        Files.createDirectories(java.getParent());
        Files.writeString(java, "#!/bin/sh\necho \"$@\"\n");
        Files.setPosixFilePermissions(java, PosixFilePermissions.fromString("rwxr-xr-x"));
        return directory.resolve("jdk");
    }

    @Test
    void theDistributionHasASampleOfEveryRolesConfiguration() {
        for (String role : List.of("metadata", "bookie", "broker")) {
            assertThat(HOME.resolve("conf").resolve(role + ".properties")).isNotEmptyFile();
        }
    }

    @Test
    void aClusterOfProcessesIsStartedKilledStartedAgainAndStoppedByItsOwnPids() throws Exception {
        TestPorts ports = TestPorts.own();
        int port = ports.getAsInt();
        Map<String, String> settings = new TreeMap<>(Map.of(
                "VARVE_CLUSTER_DIR",
                directory.resolve("cluster").toString(),
                "VARVE_CLUSTER_PORT",
                Integer.toString(port),
                "VARVE_CLUSTER_INTERNAL_PORT",
                Integer.toString(ports.inARow(25)),
                "METADATA",
                "1",
                "BROKERS",
                "1",
                "VARVE_HEAP",
                "256m"));
        String script = HOME.resolve("bin/varve-cluster").toString();
        AckLog acks = new AckLog(1);
        String bootstrap = "127.0.0.1:" + port;
        try {
            assertThat(run(settings, script, "start")).contains("broker-1 pid=", "bootstrap.servers=" + bootstrap);
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
                admin.createTopics(List.of(new NewTopic("kept", 1, (short) -1)))
                        .all()
                        .get(60, TimeUnit.SECONDS);
            }
            try (NumberedProducer producer = new NumberedProducer(bootstrap, "kept", 100, acks, PATIENCE)) {
                producer.start(1, 1_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                assertThat(producer.failure()).isNull();
            }
            assertThat(run(settings, script, "status")).contains("bookie-3 ", "TOPICS");

            run(settings, script, "kill");
            run(settings, script, "start");
            List<ProcessHandle> running = processes();
            for (int i = 0; i < 20; i++) {
                run(settings, script, "start");
            }
            assertThat(processes()).as("what runs isn't started again").isEqualTo(running);
            ReadBack.of(bootstrap, "kept", 1, PATIENCE).isExactly(acks);
        } finally {
            List<ProcessHandle> processes = processes();
            run(settings, script, "stop");
            assertThat(processes).hasSize(5);
            Await.until(
                    "all five processes gone",
                    Duration.ofSeconds(10),
                    () -> processes.stream().noneMatch(ProcessHandle::isAlive));
        }
        assertThat(Files.readString(directory.resolve("cluster/logs/broker-1.log")))
                .contains("event=stopped");
    }

    private List<ProcessHandle> processes() throws IOException {
        List<ProcessHandle> processes = new ArrayList<>();
        try (Stream<Path> files = Files.list(directory.resolve("cluster/pids"))) {
            for (Path file : files.sorted().toList()) {
                ProcessHandle.of(Long.parseLong(Files.readString(file).strip())).ifPresent(processes::add);
            }
        }
        return processes;
    }

    private String run(Map<String, String> environment, String... command) throws Exception {
        Path output = Files.createTempFile(directory, "run", ".out");
        ProcessBuilder builder = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile());
        builder.environment().putAll(environment);
        Process process = builder.start();
        boolean ended = process.waitFor(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        process.destroyForcibly();
        String printed = Files.readString(output, StandardCharsets.UTF_8);
        assertThat(ended).as("ended in time: %s\n%s", List.of(command), printed).isTrue();
        assertThat(process.exitValue()).as("%s\n%s", List.of(command), printed).isZero();
        return printed;
    }
}
