package io.varve.tiering.object;

import io.varve.testing.TestPorts;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.localstack.LocalStackContainer;

/** The contract against LocalStack: in Docker, or from its Python packages where {@code src/test/localstack/install.sh} put them. */
class LocalStackIT extends ObjectStoreContract {

    private static final Path INSTALLED = Path.of("target", "localstack").toAbsolutePath();
    private static final int OK = 200;
    private static final String KEY = "test";

    @TempDir
    static Path directory;

    private static LocalStackContainer container;
    private static StoreProcess process;
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
        int port = TestPorts.own().getAsInt();
        ProcessBuilder command =
                new ProcessBuilder(INSTALLED.resolve("bin/python").toString(), "-m", "localstack.runtime.main");
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
        endpoint = URI.create("http://127.0.0.1:" + port);
        process = StoreProcess.start(
                command, directory.resolve("localstack.log"), endpoint.resolve("/_localstack/health"), OK);
    }

    @AfterAll
    static void stop() {
        if (container != null) {
            container.stop();
        }
        if (process != null) {
            process.close();
        }
    }

    @Override
    ObjectStore open() {
        return S3Endpoints.open(endpoint, S3Endpoints.BUCKET, S3Settings.Profile.LOCALSTACK, KEY, KEY);
    }
}
