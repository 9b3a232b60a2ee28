package io.varve.cli.demo;

import io.varve.cli.local.ClusterLayout;
import io.varve.cli.local.FreePorts;
import io.varve.cli.text.Units;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Shows the whole path on real input, and fails if a single record is missing or changed. */
@Command(
        name = "demo",
        description = {
            "Starts a whole cluster, writes real input through the stock Kafka client, waits until the cold part is in object storage and"
                    + " its local copies are gone, kills the broker with -9, reads everything back through another one, and checks every"
                    + " record.",
            "Ends with 0 only if every acknowledged record was read back, unchanged and in order."
        })
public final class DemoCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec;

    @Parameters(
            index = "0",
            arity = "0..1",
            paramLabel = "FILE",
            description =
                    "A text file; its lines are written under their first words as keys. By default a generated web access log.")
    private Path file;

    @Option(
            names = "--lines",
            defaultValue = "200000",
            description = "How long the generated log is (${DEFAULT-VALUE}).")
    private long lines;

    @Option(names = "--partitions", defaultValue = "4", description = "Of the topic (${DEFAULT-VALUE}).")
    private int partitions;

    @Option(
            names = "--dir",
            description =
                    "Where the cluster keeps its data; by default a new directory below that for temporary files.")
    private Path directory;

    @Option(names = "--keep", description = "Keeps the data and the logs.")
    private boolean keep;

    @Override
    public Integer call() throws Exception {
        if (lines < 1 || partitions < 1) {
            throw new ParameterException(spec.commandLine(), "--lines and --partitions want 1 or more.");
        }
        if (file != null && !Files.isReadable(file)) {
            throw new ParameterException(spec.commandLine(), "There is no file to be read at " + file + ".");
        }
        Path dir = prepareDirectory();
        System.setProperty("varve.log.to", "file");
        System.setProperty(
                "varve.log.file", dir.resolve("logs").resolve("demo.log").toString());
        boolean passed = false;
        try (DemoInput input = file == null ? DemoInput.accessLog(lines) : DemoInput.file(file);
                Demo demo = new Demo(ClusterLayout.of(dir, 1, 3, 2, new FreePorts()), partitions, System.out)) {
            passed = demo.run(input);
        } catch (DemoFailure e) {
            System.out.println("FAILED: " + e.getMessage());
        }
        if (passed && !keep && directory == null) {
            delete(dir);
        } else {
            System.out.println("Data and logs: " + dir + " (" + Units.bytes(DirectorySize.of(dir)) + ")");
        }
        return passed ? 0 : 1;
    }

    private Path prepareDirectory() throws IOException {
        if (directory == null) {
            return Files.createTempDirectory("varve-demo-");
        }
        Files.createDirectories(directory);
        try (var entries = Files.list(directory)) {
            if (entries.findAny().isPresent()) {
                throw new ParameterException(spec.commandLine(), directory + " is not empty.");
            }
        }
        return directory.toAbsolutePath();
    }

    private static void delete(Path directory) throws IOException {
        try (var files = Files.walk(directory)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.deleteIfExists(each);
            }
        }
    }
}
