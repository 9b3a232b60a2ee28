package io.varve.itest.cluster;

import io.varve.cli.Main;
import io.varve.cli.process.ChildProcess;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A {@code varve} command that was run to its end.
 *
 * @param exitCode what it ended with
 * @param output all that it printed, to both outputs
 */
public record CommandRun(int exitCode, String output) {

    private static final Duration PATIENCE = Duration.ofMinutes(3);

    /** A machine that builds and tests at once can be slow. */
    private static final String ANSWER_MS = "20000";

    /**
     * Runs a command in this process, for the start of another one takes most of what a command costs. What it prints goes nowhere else meanwhile: one at a time.
     *
     * @throws AssertionError if it doesn't end
     */
    public static synchronized CommandRun of(String... arguments) {
        List<String> patient = patient(arguments);
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        PrintStream both = new PrintStream(printed, true, StandardCharsets.UTF_8);
        PrintStream before = System.out;
        System.setOut(both);
        try {
            int code = CompletableFuture.supplyAsync(
                            () -> Main.execute(new PrintWriter(both, true), patient.toArray(String[]::new)),
                            task -> new Thread(task, "varve " + arguments[0]).start())
                    .get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            return new CommandRun(code, printed.toString(StandardCharsets.UTF_8));
        } catch (TimeoutException e) {
            throw doesNotEnd(patient, printed.toString(StandardCharsets.UTF_8));
        } catch (Exception e) {
            throw new AssertionError(String.join(" ", patient), e);
        } finally {
            System.setOut(before);
        }
    }

    /**
     * Runs a command in a process of its own, as an operator would.
     *
     * @param directory for its output
     * @throws AssertionError if it doesn't end
     */
    public static CommandRun ofProcess(Path directory, String... arguments) throws IOException {
        List<String> patient = patient(arguments);
        Files.createDirectories(directory);
        Path log = Files.createTempFile(directory, arguments[0] + "-", ".out");
        try (ChildProcess process = ChildProcess.start(
                "varve " + arguments[0], Distribution.command("256m", patient), "never printed", log)) {
            int code = process.awaitExit(PATIENCE)
                    .orElseThrow(() -> doesNotEnd(patient, String.join("\n", process.lastLines())));
            return new CommandRun(code, Files.readString(log));
        }
    }

    private static List<String> patient(String... arguments) {
        List<String> all = new ArrayList<>(List.of(arguments));
        if (all.contains("--metadata") && !all.contains("--timeout-ms")) {
            all.addAll(List.of("--timeout-ms", ANSWER_MS));
        }
        return all;
    }

    private static AssertionError doesNotEnd(List<String> arguments, String output) {
        return new AssertionError(String.join(" ", arguments) + " does not end:\n" + output);
    }
}
