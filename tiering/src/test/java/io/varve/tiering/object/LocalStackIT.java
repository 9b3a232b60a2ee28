package io.varve.tiering.object;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.localstack.LocalStackContainer;

/** The contract against LocalStack: in Docker, or from its Python packages where {@code src/test/localstack/install.sh} put them. */
class LocalStackIT extends ObjectStoreContract {

    private static final Path INSTALLED = Path.of("target", "localstack").toAbsolutePath();
    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);
    private static final String KEY = "test";

    @TempDir
    static Path directory;

    private static LocalStackContainer container;
    private static Process process;
    private static URI endpoint;

    @BeforeAll
    static void start() throws Exception {
        if (Files.exists(INSTALLED.resolve("installed"))) {
            startPython();
            S3Endpoints.tell("TESTED store: LocalStack, from its Python packages");
        } else {
            DockerStore.assumeDocker("LocalStackIT");
            container = new LocalStackContainer("localstack/localstack:4.4.0").withServices("s3");
            container.start();
            endpoint = container.getEndpoint();
            S3Endpoints.tell("TESTED store: LocalStack, in Docker");
        }
        S3Endpoints.makeBucket(endpoint, KEY, KEY);
    }

    private static void startPython() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        ProcessBuilder command = new ProcessBuilder(
                        INSTALLED.resolve("bin/python").toString(), "-m", "localstack.runtime.main")
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("localstack.log").toFile());
        command.environment()
                .putAll(Map.of(
                        "SERVICES",
                        "s3",
                        "GATEWAY_LISTEN",
                        "127.0.0.1:" + port,
                        "DISABLE_EVENTS",
                        "1",
                        "SKIP_SSL_CERT_DOWNLOAD",
                        "1",
                        "FILESYSTEM_ROOT",
                        directory.toString(),
                        "HOME",
                        directory.toString()));
        process = command.start();
        endpoint = URI.create("http://127.0.0.1:" + port);
        URI health = endpoint.resolve("/_localstack/health");
        HttpClient client = HttpClient.newHttpClient();
        long deadlineNs = System.nanoTime() + START_TIMEOUT.toNanos();
        while (!answers(client, health)) {
            if (!process.isAlive() || System.nanoTime() - deadlineNs > 0) {
                throw new IOException(
                        "LocalStack didn't start: " + Files.readString(directory.resolve("localstack.log")));
            }
            LockSupport.parkNanos(200_000_000L);
        }
    }

    private static boolean answers(HttpClient client, URI health) throws InterruptedException {
        try {
            HttpRequest request = HttpRequest.newBuilder(health)
                    .timeout(Duration.ofSeconds(5))
                    .build();
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == 200;
        } catch (IOException notYet) {
            return false;
        }
    }

    @AfterAll
    static void stop() throws InterruptedException {
        if (container != null) {
            container.stop();
        }
        if (process != null) {
            process.descendants().forEach(ProcessHandle::destroyForcibly);
            process.destroyForcibly().waitFor();
        }
    }

    @Override
    ObjectStore open() {
        return S3Endpoints.open(endpoint, S3Endpoints.BUCKET, S3Settings.Profile.LOCALSTACK, KEY, KEY);
    }
}
