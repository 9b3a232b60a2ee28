package io.varve.itest.clients;

import java.io.File;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

/** Class paths with an older kafka-clients, what it needs besides, and the test programs: nothing else of this build. */
public final class OlderClients {

    private OlderClients() {}

    /** @param version major and minor, of those that {@code itest/pom.xml} puts under {@code target/clients} */
    public static String classPath(String version) {
        String older = Path.of("target", "clients", "kafka-" + version).toAbsolutePath() + "/*";
        String libraries = Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                .filter(entry -> entry.contains("test-classes")
                        || entry.matches(".*/(slf4j-api|lz4-java|snappy-java|zstd-jni)-[^/]*\\.jar"))
                .collect(Collectors.joining(File.pathSeparator));
        return older + File.pathSeparator + libraries;
    }
}
