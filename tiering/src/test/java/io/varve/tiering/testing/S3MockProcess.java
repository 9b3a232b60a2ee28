package io.varve.tiering.testing;

import io.varve.testing.TestPorts;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Adobe's S3Mock as a process of its own, on a free port of this machine. */
public final class S3MockProcess implements AutoCloseable {

    /** The bucket that it has. */
    public static final String BUCKET = "varve-test";

    private static final long START_SECONDS = 120;

    private final Process process;
    private final URI endpoint;

    private S3MockProcess(Process process, URI endpoint) {
        this.process = process;
        this.endpoint = endpoint;
    }

    /** The jar that the build fetched, if it did. */
    public static Optional<Path> jar() {
        return Optional.ofNullable(System.getProperty("varve.s3mock.jar"))
                .map(Path::of)
                .filter(Files::exists);
    }

    /** Starts it and waits until it serves. */
    public static S3MockProcess start(Path jar, Path directory) throws Exception {
        int port = TestPorts.own().getAsInt();
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx256m",
                        "-jar",
                        jar.toString(),
                        "--server.port=" + port,
                        "--http.port=" + TestPorts.own().getAsInt(),
                        "--server.ssl.enabled=false",
                        "--server.address=127.0.0.1",
                        "--com.adobe.testing.s3mock.store.root=" + directory)
                .redirectErrorStream(true)
                .start();
        CompletableFuture<Void> started = new CompletableFuture<>();
        Thread log = new Thread(() -> follow(process, started), "s3mock-log");
        log.setDaemon(true);
        log.start();
        try {
            started.get(START_SECONDS, TimeUnit.SECONDS);
        } catch (Exception e) {
            process.destroyForcibly();
            throw e;
        }
        URI endpoint = URI.create("http://127.0.0.1:" + port);
        HttpResponse<String> made = HttpClient.newHttpClient()
                .send(
                        HttpRequest.newBuilder(endpoint.resolve("/" + BUCKET))
                                .PUT(HttpRequest.BodyPublishers.noBody())
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        if (made.statusCode() != 200) {
            process.destroyForcibly();
            throw new IOException("S3Mock didn't make a bucket: " + made.statusCode() + " " + made.body());
        }
        return new S3MockProcess(process, endpoint);
    }

    /** Where it serves. */
    public URI endpoint() {
        return endpoint;
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }

    private static void follow(Process process, CompletableFuture<Void> started) {
        StringBuilder last = new StringBuilder();
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.contains("Started S3MockApplication")) {
                    started.complete(null);
                }
                if (!started.isDone()) {
                    last.append(line).append('\n');
                }
            }
        } catch (IOException closed) {
            last.append(closed);
        }
        started.completeExceptionally(new IOException("S3Mock ended: " + last));
    }
}
