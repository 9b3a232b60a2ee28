package io.varve.cli.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A process that this one started, with what it prints kept in a file and its last lines in memory. It ends with this process, however
 * this one ends: the command is given the option to stop when its standard input closes. Safe for any thread.
 */
public final class ChildProcess implements AutoCloseable {

    private static final int LINES_KEPT = 60;

    private final String name;
    private final Process process;
    private final Consumer<String> onLine;
    private final String marker;
    private final CompletableFuture<String> ready = new CompletableFuture<>();
    private final Deque<String> lastLines = new ArrayDeque<>();
    private final Thread pump;

    private ChildProcess(String name, Process process, Consumer<String> onLine, String marker, PrintWriter log) {
        this.name = name;
        this.process = process;
        this.onLine = onLine;
        this.marker = marker;
        this.pump = new Thread(() -> pump(log), name + "-output");
        pump.setDaemon(true);
        pump.start();
    }

    /**
     * Starts a process.
     *
     * @param name for people
     * @param marker part of the line by which it says that it is ready
     * @param log takes what it prints, after what is there already
     */
    public static ChildProcess start(String name, List<String> command, String marker, Path log) throws IOException {
        return start(name, command, marker, log, line -> {});
    }

    /** {@link #start(String, List, String, Path)}, with somebody who is told of every line, on a thread of the process's own. */
    public static ChildProcess start(
            String name, List<String> command, String marker, Path log, Consumer<String> onLine) throws IOException {
        Files.createDirectories(log.toAbsolutePath().getParent());
        PrintWriter writer = new PrintWriter(
                Files.newBufferedWriter(
                        log, StandardCharsets.UTF_8, StandardOpenOption.CREATE, StandardOpenOption.APPEND),
                true);
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        return new ChildProcess(name, process, onLine, marker, writer);
    }

    private void pump(PrintWriter log) {
        try (log;
                BufferedReader lines =
                        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                log.println(line);
                synchronized (lastLines) {
                    if (lastLines.size() == LINES_KEPT) {
                        lastLines.removeFirst();
                    }
                    lastLines.addLast(line);
                }
                onLine.accept(line);
                if (line.contains(marker)) {
                    ready.complete(line);
                }
            }
        } catch (IOException e) {
            // Its output ended with it.
        }
        ready.completeExceptionally(new IOException(name + " ended before it was ready"));
    }

    /** Its name. */
    public String name() {
        return name;
    }

    /** Its process id. */
    public long pid() {
        return process.pid();
    }

    /** Whether it still runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /** Completes with the line in which it said that it is ready; fails if it ended before. */
    public CompletableFuture<String> ready() {
        return ready;
    }

    /** SIGKILL. */
    public void killWithoutWaiting() {
        process.toHandle().destroyForcibly(); // Process.destroy would close its output, and lose its last words
    }

    /** SIGKILL, and waits until it is gone. */
    public void kill() {
        killWithoutWaiting();
        awaitExit(Duration.ofSeconds(10));
    }

    /** Ends its standard input. */
    public void closeInput() {
        try {
            process.getOutputStream().close();
        } catch (IOException e) {
            // It has ended, and its input with it.
        }
    }

    /** SIGTERM. */
    public void terminate() {
        process.toHandle().destroy();
    }

    /** SIGSTOP: it stands still, its connections stay open. */
    public void pause() {
        signal("STOP");
    }

    /** SIGCONT. */
    public void resume() {
        signal("CONT");
    }

    private void signal(String which) {
        try {
            Process kill = new ProcessBuilder("kill", "-" + which, Long.toString(pid()))
                    .inheritIO()
                    .start();
            if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
                throw new IllegalStateException("kill -" + which + " of " + name + " failed");
            }
        } catch (IOException e) {
            throw new IllegalStateException("kill can't be run", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted", e);
        }
    }

    /** Its exit code, or nothing if it still runs after {@code timeout}. All it printed has been taken in by then. */
    public OptionalInt awaitExit(Duration timeout) {
        try {
            if (!process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS)) {
                return OptionalInt.empty();
            }
            pump.join(2_000);
            return OptionalInt.of(process.exitValue());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return OptionalInt.empty();
        }
    }

    /** The last lines it printed. */
    public List<String> lastLines() {
        synchronized (lastLines) {
            return new ArrayList<>(lastLines);
        }
    }

    /** Kills it if it still runs. */
    @Override
    public void close() {
        kill();
    }
}
