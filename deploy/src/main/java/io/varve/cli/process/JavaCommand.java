package io.varve.cli.process;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The command line that runs {@code varve} again as this process does: the same Java, the same class path. */
public final class JavaCommand {

    private JavaCommand() {}

    /**
     * @param heap the most the heap may grow to, such as {@code 256m}
     * @param jvmOptions more options for the JVM
     * @param arguments what {@code varve} is to do
     */
    public static List<String> varve(String heap, List<String> jvmOptions, List<String> arguments) {
        return varve(System.getProperty("java.class.path"), heap, jvmOptions, arguments);
    }

    /** {@link #varve(String, List, List)} with another class path. */
    public static List<String> varve(String classPath, String heap, List<String> jvmOptions, List<String> arguments) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + heap);
        command.add("-XX:+UseSerialGC");
        command.add("-XX:+ExitOnOutOfMemoryError");
        command.add("-Xshare:auto");
        command.addAll(jvmOptions);
        command.add("-cp");
        command.add(classPath);
        command.add("io.varve.cli.Main");
        command.addAll(arguments);
        return command;
    }
}
