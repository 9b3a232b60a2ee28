package io.varve.tiering.object;

import io.varve.testing.TestPorts;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** The contract against S3Proxy on a directory, where {@code src/test/s3proxy/install.sh} put it. */
class S3ProxyIT extends ObjectStoreContract {

    private static final Path INSTALLED = Path.of("target", "s3proxy").toAbsolutePath();
    private static final String KEY = "any";
    private static final int FORBIDDEN = 403;

    @TempDir
    static Path directory;

    private static StoreProcess process;
    private static URI endpoint;

    @BeforeAll
    static void start() throws Exception {
        boolean isInstalled = Files.exists(INSTALLED.resolve("installed"));
        S3Endpoints.tell(
                isInstalled ? "TESTED store: S3Proxy, on a directory" : "SKIPPED S3ProxyIT: S3Proxy is not installed");
        Assumptions.assumeTrue(isInstalled, "S3Proxy is not installed: see src/test/s3proxy/install.sh");
        endpoint = URI.create("http://127.0.0.1:" + TestPorts.own().getAsInt());
        Path data = Files.createDirectories(directory.resolve("data"));
        Path config = Files.write(
                directory.resolve("s3proxy.conf"),
                List.of(
                        "s3proxy.endpoint=" + endpoint,
                        "s3proxy.authorization=aws-v2-or-v4",
                        "s3proxy.identity=" + KEY,
                        "s3proxy.credential=" + KEY,
                        "jclouds.provider=filesystem-nio2",
                        "jclouds.filesystem.basedir=" + data));
        ProcessBuilder command = new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-DLOG_LEVEL=warn",
                "-cp",
                INSTALLED.resolve("lib") + "/*",
                "org.gaul.s3proxy.Main",
                "--properties",
                config.toString());
        // Who comes without a signature is refused: it listens.
        process = StoreProcess.start(command, directory.resolve("s3proxy.log"), endpoint, FORBIDDEN);
        S3Endpoints.makeBucket(endpoint, KEY, KEY);
    }

    @AfterAll
    static void stop() {
        if (process != null) {
            process.close();
        }
    }

    /** It keeps parts as objects of their own, and takes one at any time. */
    @Override
    boolean refusesPartsOfAbortedUploads() {
        return false;
    }

    @Override
    ObjectStore open() {
        return S3Endpoints.open(endpoint, S3Endpoints.BUCKET, S3Settings.Profile.GENERIC, KEY, KEY);
    }
}
