package io.varve.itest.cluster;

import io.varve.cli.process.ChildProcess;
import io.varve.tiering.testing.PlainS3Server;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The distribution's classes as a process has them in memory, in a file that other processes map: to load and verify them is a third of what a start costs, and a test of the whole starts
 * ten processes or more. The first test process that starts one has {@code varve prepare} make the file, with a store in S3.
 */
final class SharedClasses {

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Pattern PREPARED = Pattern.compile("Prepared: (.*) \\(.*\\)");
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    /** A JVM that doesn't want the file would say so at each start. */
    private static final String QUIETLY = "-Xlog:cds=off,cds+dynamic=off";

    private static List<String> options;

    private SharedClasses() {}

    /** The options of a JVM that is to use them; none where they can't be made. */
    static synchronized List<String> options(Path home) {
        if (options == null) {
            try {
                options = List.of("-XX:SharedArchiveFile=" + prepared(home), QUIETLY);
            } catch (Exception without) {
                System.out.println("SKIPPED shared classes: " + without);
                options = List.of();
            }
        }
        return options;
    }

    /** One test process makes the file, the others wait for it. */
    private static String prepared(Path home) throws Exception {
        try (FileChannel channel = FileChannel.open(
                        TARGET.resolve("prepare.lock"), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
                FileLock alone = channel.lock();
                PlainS3Server store = new PlainS3Server(true)) {
            List<String> command =
                    new ArrayList<>(List.of(home.resolve("bin/varve").toString(), "prepare", "--if-missing"));
            store.config().forEach((key, value) -> command.addAll(List.of("--set", key + "=" + value)));
            try (ChildProcess process =
                    ChildProcess.start("prepare", command, "Prepared", TARGET.resolve("prepare.log"))) {
                int code = process.awaitExit(PATIENCE).orElse(-1);
                Matcher line = PREPARED.matcher(String.join("\n", process.lastLines()));
                if (!alone.isValid() || code != 0 || !line.find()) {
                    throw new IOException("exit code " + code + ": " + process.lastLines());
                }
                return line.group(1);
            }
        }
    }
}
