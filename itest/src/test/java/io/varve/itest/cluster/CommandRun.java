package io.varve.itest.cluster;

import io.varve.cli.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * A {@code varve} command that was run in a process of its own.
 *
 * @param exitCode what it ended with
 * @param output all that it printed
 */
public record CommandRun(int exitCode, String output) {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    /**
     * Runs a command and waits for its end.
     *
     * @param directory for its output
     * @throws AssertionError if it doesn't end
     */
    public static CommandRun of(Path directory, String... arguments) throws IOException {
        Files.createDirectories(directory);
        Path log = Files.createTempFile(directory, arguments[0] + "-", ".out");
        try (ChildProcess process = ChildProcess.start(
                "varve " + arguments[0], Distribution.command("256m", List.of(arguments)), "never printed", log)) {
            int code = process.awaitExit(PATIENCE)
                    .orElseThrow(() -> new AssertionError(String.join(" ", arguments) + " does not end"));
            return new CommandRun(code, Files.readString(log));
        }
    }
}
