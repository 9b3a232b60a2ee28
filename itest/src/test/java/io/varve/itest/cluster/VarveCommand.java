package io.varve.itest.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * How a {@code varve} command of an operator ended.
 *
 * @param exitCode of its process
 * @param output what it printed, errors too
 */
record VarveCommand(int exitCode, String output) {

    private static final long PATIENCE_S = 180;

    /** Runs a command against a cluster, in a process of its own. */
    static VarveCommand run(ProcessCluster cluster, String... arguments) throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of("--metadata", cluster.layout().metadataServers(), "--timeout-ms", "60000"));
        Process process = new ProcessBuilder(Distribution.command("256m", all))
                .redirectErrorStream(true)
                .start();
        process.getOutputStream().close();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (!process.waitFor(PATIENCE_S, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("varve " + String.join(" ", arguments) + " does not end:\n" + output);
        }
        return new VarveCommand(process.exitValue(), output);
    }

    /** The same with the cluster's object store. */
    static VarveCommand runOnBucket(ProcessCluster cluster, String... arguments)
            throws IOException, InterruptedException {
        List<String> all = new ArrayList<>(List.of(arguments));
        all.addAll(List.of(
                "--set",
                "tiering.store=local",
                "--set",
                "tiering.local.dir=" + cluster.layout().bucket()));
        return run(cluster, all.toArray(String[]::new));
    }
}
