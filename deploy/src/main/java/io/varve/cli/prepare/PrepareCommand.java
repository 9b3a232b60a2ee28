package io.varve.cli.prepare;

import io.varve.cli.admin.AdminFailure;
import io.varve.cli.process.ChildProcess;
import io.varve.cli.process.JavaCommand;
import io.varve.cli.text.Units;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/**
 * Writes the classes of Varve to a file as a process has them in memory, for later processes to map. They come from a {@link Rehearsal} in a process of its own, because a JVM writes such
 * a file when it ends. The file is there whole or not at all; a JVM that can't use it, another version for one, starts as if there were none. See ADR 0105.
 */
@Command(
        name = "prepare",
        description = {
            "Makes later starts of varve take a third less time: writes the classes to a file as a process has them in memory, for those later processes to map.",
            "The file is for the very jars and the very Java that made it; with others it goes unused, and is to be made again."
        })
public final class PrepareCommand implements Callable<Integer> {

    /** Where {@code bin/varve} looks for the file. */
    private static final String FILE_PROPERTY = "varve.classes";

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    @Option(names = "--file", description = "The file to write; by default the one that bin/varve looks for.")
    private Path file;

    @Option(names = "--if-missing", description = "Does nothing where the file is there.")
    private boolean ifMissing;

    /** For tests, whose bucket is thrown away: in another one, the prefix would belong to the cluster of the rehearsal. */
    @Option(names = "--set", hidden = true, description = "Sets a key of whichever roles have it, for the rehearsal.")
    private Map<String, String> overrides = new TreeMap<>();

    @Option(names = "--rehearse", hidden = true, description = "Only runs such a cluster, below this directory.")
    private Path rehearsal;

    @Override
    public Integer call() throws Exception {
        if (rehearsal != null) {
            Rehearsal.run(rehearsal, overrides);
            return 0;
        }
        Path archive = target();
        if (!ifMissing || !Files.exists(archive)) {
            prepare(archive);
        }
        System.out.println("Prepared: " + archive + " (" + Units.bytes(Files.size(archive)) + ")");
        return 0;
    }

    private void prepare(Path archive) throws IOException {
        Path scratch = scratchBeside(archive);
        try {
            Path made = scratch.resolve("classes.jsa");
            rehearse(scratch, made);
            if (file == null) {
                deleteOlder(archive.getParent());
            }
            Files.move(made, archive, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } finally {
            deleteAll(scratch);
        }
    }

    /** Those of jars that were there before. */
    private static void deleteOlder(Path directory) throws IOException {
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory, "varve-*.jsa")) {
            for (Path old : files) {
                Files.delete(old);
            }
        }
    }

    private Path target() {
        String named = System.getProperty(FILE_PROPERTY, "");
        if (file == null && named.isEmpty()) {
            throw new AdminFailure("not started by bin/varve: --file says where the file is to be");
        }
        return (file != null ? file : Path.of(named)).toAbsolutePath();
    }

    /** On the same file system, for the file to be moved to its place at once. */
    private static Path scratchBeside(Path archive) {
        try {
            Files.createDirectories(archive.getParent());
            return Files.createTempDirectory(archive.getParent(), "prepare-");
        } catch (IOException e) {
            throw new AdminFailure("nothing can be written beside " + archive + ": " + e.getMessage());
        }
    }

    private void rehearse(Path scratch, Path made) throws IOException {
        List<String> arguments = new ArrayList<>(
                List.of("prepare", "--rehearse", scratch.resolve("cluster").toString()));
        overrides.forEach((key, value) -> arguments.addAll(List.of("--set", key + "=" + value)));
        List<String> options = List.of("-XX:TieredStopAtLevel=1", "-XX:ArchiveClassesAtExit=" + made);
        try (ChildProcess child = ChildProcess.start(
                "rehearsal", JavaCommand.varve("512m", options, arguments), "never printed", scratch.resolve("log"))) {
            OptionalInt code = child.awaitExit(PATIENCE);
            if (code.orElse(-1) != 0 || !Files.exists(made)) {
                throw new AdminFailure("the classes could not be written:\n" + String.join("\n", child.lastLines()));
            }
        }
    }

    private static void deleteAll(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(each);
            }
        }
    }
}
