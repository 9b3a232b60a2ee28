package io.varve.itest.cluster;

import io.varve.cli.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;

/** Runs a command of {@code varve} as an operator would, and waits for its end. */
final class Tool {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private final Path log;

    /** @param log takes what all its commands print */
    Tool(Path log) {
        this.log = log;
    }

    /**
     * How a command ended.
     *
     * @param lines what it printed, to both outputs
     */
    record Result(int exitCode, List<String> lines) {
        String text() {
            return String.join("\n", lines);
        }
    }

    /** @throws AssertionError if it doesn't end in a few minutes */
    Result run(String... given) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(given));
        if (arguments.contains("--metadata") && !arguments.contains("--timeout-ms")) {
            arguments.addAll(List.of("--timeout-ms", "20000")); // a machine that builds and tests at once can be slow
        }
        ChildProcess process =
                ChildProcess.start(String.join(" ", given), Distribution.command("256m", arguments), "\0", log);
        try (process) {
            OptionalInt code = process.awaitExit(PATIENCE);
            if (code.isEmpty()) {
                throw new AssertionError(process.name() + " did not end: " + process.lastLines());
            }
            return new Result(code.getAsInt(), process.lastLines());
        }
    }
}
