package io.varve.itest.cluster;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Java programs that a test runs beside the cluster, such as other people's clients: started in as little processor time as may be. */
public final class JavaProgram {

    private JavaProgram() {}

    /**
     * The command line of one.
     *
     * @param heap the most the heap may grow to, such as {@code 128m}
     * @param arguments more options for the JVM if there are any, the main class or source file, and what it is to do
     */
    public static List<String> command(String heap, String classPath, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heap,
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                classPath));
        command.addAll(arguments);
        return command;
    }
}
