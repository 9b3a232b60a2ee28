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
import org.junit.jupiter.api.extension.AfterAllCallback;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.LifecycleMethodExecutionExceptionHandler;
import org.junit.jupiter.api.extension.TestExecutionExceptionHandler;

/**
 * Gives a test its clusters and ends all their processes after it; where it is a static field, gives a class its clusters and ends them after the last of its tests. When a test fails, the last warnings and errors of every process are shown, and then its last lines; the whole logs stay
 * under {@code target/clusters}.
 */
public final class Clusters
        implements BeforeAllCallback,
                AfterAllCallback,
                BeforeEachCallback,
                AfterEachCallback,
                LifecycleMethodExecutionExceptionHandler,
                TestExecutionExceptionHandler {

    private static final Path ROOT = Path.of("target", "clusters");

    /** The level as the distribution's own layout has it, after the time. */
    private static final Pattern TROUBLE = Pattern.compile("^\\S+ (WARN|ERROR|FATAL) ");

    private static final int TROUBLES_MAX = 12;

    private final List<ProcessCluster> started = new ArrayList<>();
    private Path directory;
    private boolean areOfClass;
    private boolean isWanted;

    /** Called of a static field alone. */
    @Override
    public void beforeAll(ExtensionContext context) throws IOException {
        areOfClass = true;
        begin(context.getRequiredTestClass().getSimpleName());
    }

    @Override
    public void beforeEach(ExtensionContext context) throws IOException {
        if (!areOfClass) {
            begin(context.getRequiredTestClass().getSimpleName() + "-"
                    + context.getRequiredTestMethod().getName());
        }
    }

    private void begin(String name) throws IOException {
        Files.createDirectories(ROOT);
        directory = Files.createTempDirectory(ROOT, name + "-");
        isWanted = false;
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
    public void handleBeforeAllMethodExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        showAll();
        throw failure;
    }

    @Override
    public void handleTestExecutionException(ExtensionContext context, Throwable failure) throws Throwable {
        showAll();
        throw failure;
    }

    private void showAll() throws IOException {
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
        isWanted = true;
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
        if (!areOfClass) {
            end(context);
        }
    }

    @Override
    public void afterAll(ExtensionContext context) throws IOException {
        if (areOfClass) {
            end(context);
        }
    }

    private void end(ExtensionContext context) throws IOException {
        for (ProcessCluster cluster : started) {
            cluster.close();
        }
        started.clear();
        if (context.getExecutionException().isEmpty() && !isWanted) {
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
