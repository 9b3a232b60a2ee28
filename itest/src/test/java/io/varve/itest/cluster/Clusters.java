package io.varve.itest.cluster;

import io.varve.cli.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Gives a test its clusters and ends all their processes after it. When the test fails, the last warnings and errors of every process are shown, and then its last lines; the whole logs stay
 * under {@code target/clusters}.
 */
public final class Clusters implements BeforeEachCallback, AfterEachCallback, TestExecutionExceptionHandler {

    private static final Path ROOT = Path.of("target", "clusters");

    /** The level as the distribution's own layout has it, after the time. */
    private static final Pattern TROUBLE = Pattern.compile("^\\S+ (WARN|ERROR|FATAL) ");

    private static final int TROUBLES_MAX = 12;

    private final List<ProcessCluster> started = new ArrayList<>();
    private Path directory;

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        Files.createDirectories(ROOT);
        directory = Files.createTempDirectory(
                ROOT,
                context.getRequiredTestClass().getSimpleName() + "-"
                        + context.getRequiredTestMethod().getName() + "-");
    }

    /** A cluster whose processes are all running and ready. */
    public ProcessCluster start(ClusterShape shape) throws IOException {
        ProcessCluster cluster = prepare(shape);
        cluster.startAll();
        return cluster;
    }

    /** A cluster of which nothing runs yet. */
    public ProcessCluster prepare(ClusterShape shape) throws IOException {
        ProcessCluster cluster = new ProcessCluster(directory.resolve("cluster-" + started.size()), shape);
        started.add(cluster);
        return cluster;
    }

    /** A cluster of which nothing runs yet, each of its processes to run on a host of its own. */
    ProcessCluster prepare(ClusterShape shape, NetworkNamespaces network) throws IOException {
        ProcessCluster cluster =
                new ProcessCluster(directory.resolve("cluster-" + started.size()), shape, Optional.of(network));
        started.add(cluster);
        return cluster;
    }

    /** Where the test may put its own files. */
    public Path directory() {
        return directory;
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        for (ProcessCluster cluster : started) {
            for (ChildProcess process : cluster.processes()) {
                show(process, "warnings and errors", troublesIn(cluster.logOf(process.name())));
            }
        }
        for (ProcessCluster cluster : started) {
            for (ChildProcess process : cluster.processes()) {
                show(process, "lines", process.lastLines());
            }
        }
        System.err.println("---- all of it: " + directory.toAbsolutePath());
        throw failure;
    }

    private static void show(ChildProcess process, String what, Collection<String> lines) {
        System.err.println("---- " + process.name() + " pid=" + process.pid()
                + (process.isAlive() ? " running" : " ended") + ", its last " + what + ":");
        lines.forEach(System.err::println);
    }

    /** The last of them, without their stacks. */
    private static Deque<String> troublesIn(Path log) throws IOException {
        Deque<String> last = new ArrayDeque<>();
        if (Files.exists(log)) {
            try (Stream<String> lines = Files.lines(log)) {
                lines.filter(line -> TROUBLE.matcher(line).find()).forEach(line -> {
                    if (last.size() == TROUBLES_MAX) {
                        last.removeFirst();
                    }
                    last.addLast(line);
                });
            }
        }
        return last;
    }

    @Override
    public void afterEach(ExtensionContext context) throws IOException {
        for (ProcessCluster cluster : started) {
            cluster.close();
        }
        started.clear();
        if (context.getExecutionException().isEmpty()) {
            deleteAll(directory);
        }
    }

    private static void deleteAll(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
