package io.varve.itest.cluster;

import io.varve.cli.process.JavaCommand;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The unpacked distribution that this build made: what the process tests run. */
final class Distribution {

    private static final Path HOME =
            Path.of("..", "deploy", "target", "varve").toAbsolutePath().normalize();

    /** Half the processor time for a start, which is most of what such a process does here. */
    private static final List<String> QUICK_START = List.of("-XX:TieredStopAtLevel=1");

    private static final String HEAP = "512m";

    private static final List<String> MEASURED = List.of("-XX:-UseSerialGC", "-XX:+UseG1GC", "-Xms" + HEAP);

    private Distribution() {}

    /** Its directory. */
    static Path home() {
        if (!Files.isDirectory(HOME.resolve("lib"))) {
            throw new IllegalStateException("There is no distribution at " + HOME + ": build with ./mvnw verify");
        }
        return HOME;
    }

    /** The command line of a {@code varve} process. */
    static List<String> command(String heap, List<String> arguments) {
        List<String> options = new ArrayList<>(QUICK_START);
        options.addAll(SharedClasses.options(home()));
        return command(heap, options, arguments);
    }

    /** The command line of a {@code varve} process with the options and the heap that {@code bin/varve} gives to one role. */
    static List<String> measuredCommand(List<String> arguments) {
        return command(HEAP, MEASURED, arguments);
    }

    private static List<String> command(String heap, List<String> options, List<String> arguments) {
        return JavaCommand.varve(home().resolve("lib") + "/*", heap, options, arguments);
    }
}
