package io.varve.tiering.object;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** A store in a process of its own on this machine, for as long as a test class runs. */
final class StoreProcess implements AutoCloseable {

    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);

    private final Process process;

    private StoreProcess(Process process) {
        this.process = process;
    }

    /**
     * Starts one and waits until it answers.
     *
     * @param log takes what it prints
     * @param health asked until there is an answer of this status
     */
    static StoreProcess start(ProcessBuilder command, Path log, URI health, int status) throws Exception {
        Process process =
                command.redirectErrorStream(true).redirectOutput(log.toFile()).start();
        StoreProcess started = new StoreProcess(process);
        HttpClient client = HttpClient.newHttpClient();
        long deadlineNs = System.nanoTime() + START_TIMEOUT.toNanos();
        while (!answers(client, health, status)) {
            if (!process.isAlive() || System.nanoTime() - deadlineNs > 0) {
                started.close();
                throw new IOException("The store didn't start: " + Files.readString(log));
            }
            LockSupport.parkNanos(200_000_000L);
        }
        return started;
    }

    private static boolean answers(HttpClient client, URI health, int status) throws InterruptedException {
        try {
            HttpRequest request = HttpRequest.newBuilder(health)
                    .timeout(Duration.ofSeconds(5))
                    .build();
            return client.send(request, HttpResponse.BodyHandlers.discarding()).statusCode() == status;
        } catch (IOException notYet) {
            return false;
        }
    }

    /** Kills it, with whatever it started. */
    @Override
    public void close() {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
    }
}
