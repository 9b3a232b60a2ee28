package io.varve.itest.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;

/** Commands of the operating system that a test needs. */
public final class SystemCommand {

    private static final long MS_MAX = 10_000;

    private SystemCommand() {}

    /** Runs one to its end. @throws IOException with what it said, if it fails or takes longer than a few seconds */
    public static void run(String... command) throws IOException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (!process.waitFor(MS_MAX, TimeUnit.MILLISECONDS) || process.exitValue() != 0) {
                throw new IOException(String.join(" ", command) + ": " + output.strip());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        } finally {
            process.destroyForcibly();
        }
    }
}
