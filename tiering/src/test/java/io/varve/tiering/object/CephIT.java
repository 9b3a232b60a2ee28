package io.varve.tiering.object;

import io.varve.testing.TestPorts;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract against a real Ceph Object Gateway, where Ceph is installed. It refuses the SDK's newer habits, as many stores do. */
class CephIT extends ObjectStoreContract {

    private static final List<String> PROGRAMS = List.of("radosgw", "radosgw-admin", "ceph-mon", "ceph-osd", "ceph");
    private static final String ACCESS_KEY = "varve-access";
    private static final String SECRET_KEY = "varve-secret";
    private static final long START_SECONDS = 300;

    @TempDir
    static Path directory;

    private static URI endpoint;

    @BeforeAll
    static void start() throws Exception {
        boolean installed = PROGRAMS.stream().allMatch(CephIT::isInstalled);
        if (!installed) {
            S3Endpoints.tell("SKIPPED CephIT: Ceph's object gateway is not installed");
        }
        Assumptions.assumeTrue(installed, "Ceph's object gateway is not installed");
        int port = TestPorts.own().inARow(2); // the next one is the monitor's
        Process starting = new ProcessBuilder(
                        "bash", Path.of("src", "test", "ceph", "start.sh").toString(), directory.toString(), "" + port)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("start.log").toFile())
                .start();
        if (!starting.waitFor(START_SECONDS, TimeUnit.SECONDS) || starting.exitValue() != 0) {
            stop();
            throw new IOException("Ceph didn't start: " + Files.readString(directory.resolve("start.log")));
        }
        endpoint = URI.create("http://127.0.0.1:" + port);
        S3Endpoints.makeBucket(endpoint, ACCESS_KEY, SECRET_KEY);
        S3Endpoints.tell("TESTED store: Ceph Object Gateway");
    }

    @AfterAll
    static void stop() throws Exception {
        try (Stream<Path> files = Files.list(directory)) {
            for (Path file : (Iterable<Path>) files.filter(f -> f.toString().endsWith(".pid"))::iterator) {
                long pid = Long.parseLong(Files.readString(file).trim());
                ProcessHandle.of(pid).ifPresent(CephIT::kill);
            }
        }
    }

    @Override
    ObjectStore open() {
        return S3Endpoints.open(endpoint, S3Endpoints.BUCKET, S3Settings.Profile.GENERIC, ACCESS_KEY, SECRET_KEY);
    }

    private static void kill(ProcessHandle process) {
        process.destroyForcibly();
        process.onExit().orTimeout(30, TimeUnit.SECONDS).join();
    }

    private static boolean isInstalled(String program) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(":"))
                .anyMatch(bin -> Files.isExecutable(Path.of(bin, program)));
    }
}
