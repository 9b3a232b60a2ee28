package io.varve.itest.cluster;

import io.varve.cli.process.ChildProcess;
import io.varve.cli.process.JavaCommand;
import io.varve.cli.role.RoleProcess;
import io.varve.testing.TestPorts;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;

/**
 * The distribution's classes as a process has them in memory, in a file that other processes map: to load and verify them is a third of what a start costs, and a test of the whole starts
 * ten processes or more. The first test process that starts one makes the file, from a cluster in one process that was written to and read from; it is made again when the
 * distribution is newer. A JVM that can't use it starts as if there were none.
 */
final class SharedClasses {

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Path ARCHIVE = TARGET.resolve("varve.jsa");
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    /** A JVM that doesn't want the file would say so at each start. */
    private static final String QUIETLY = "-Xlog:cds=off,cds+dynamic=off";

    private static List<String> options;

    private SharedClasses() {}

    /** The options of a JVM that is to use them. */
    static synchronized List<String> options(Path lib) {
        if (options == null) {
            options = isThere(lib) ? List.of("-XX:SharedArchiveFile=" + ARCHIVE, QUIETLY) : List.of();
        }
        return options;
    }

    private static boolean isThere(Path lib) {
        try (FileChannel channel = FileChannel.open(
                        TARGET.resolve("varve.jsa.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock alone = channel.lock()) {
            if (alone.isValid() && !isNewerThan(lib)) {
                make(lib);
            }
            return true;
        } catch (Exception without) {
            System.out.println("SKIPPED shared classes: " + without);
            return false;
        }
    }

    private static boolean isNewerThan(Path lib) throws IOException {
        if (!Files.exists(ARCHIVE)) {
            return false;
        }
        FileTime made = Files.getLastModifiedTime(ARCHIVE);
        try (Stream<Path> jars = Files.list(lib)) {
            return jars.allMatch(jar -> jar.toFile().lastModified() < made.toMillis());
        }
    }

    private static void make(Path lib) throws Exception {
        Path data = Files.createTempDirectory(TARGET, "classes-");
        Path made = data.resolve("varve.jsa");
        TestPorts ports = TestPorts.own();
        int port = ports.getAsInt();
        List<String> arguments = List.of(
                "standalone",
                "--while-input-open",
                "--data-dir",
                data.resolve("data").toString(),
                "--port",
                Integer.toString(port),
                "--internal-port",
                Integer.toString(ports.inARow(5)));
        List<String> command = JavaCommand.varve(
                lib + "/*", "512m", List.of("-XX:TieredStopAtLevel=1", "-XX:ArchiveClassesAtExit=" + made), arguments);
        try (ChildProcess standalone =
                ChildProcess.start("standalone", command, RoleProcess.READY, data.resolve("standalone.log"))) {
            ProcessCluster.awaitReady(standalone);
            use("127.0.0.1:" + port);
            standalone.terminate();
            if (standalone.awaitExit(PATIENCE).orElse(-1) != 0) {
                throw new IOException(String.join("\n", standalone.lastLines()));
            }
        }
        Files.move(made, ARCHIVE, StandardCopyOption.REPLACE_EXISTING);
        try (Stream<Path> files = Files.walk(data)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void use(String bootstrap) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", bootstrap))) {
            admin.createTopics(List.of(new NewTopic("used", 1, (short) -1)))
                    .all()
                    .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        AckLog acks = new AckLog(1);
        try (NumberedProducer producer = new NumberedProducer(bootstrap, "used", 100, acks, PATIENCE)) {
            producer.start(1, 1_000, 0).done().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        }
        ReadBack.of(bootstrap, "used", 1, PATIENCE).isExactly(acks);
    }
}
