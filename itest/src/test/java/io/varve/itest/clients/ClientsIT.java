package io.varve.itest.clients;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.itest.cluster.ClusterShape;
import io.varve.itest.cluster.Clusters;
import io.varve.itest.cluster.JavaProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The programs of {@code itest/clients} against a cluster of processes: other people's clients must not be able to tell. */
class ClientsIT {

    private static final Path INSTALLED = Path.of("target", "clients").toAbsolutePath();
    private static final Path PROGRAMS = Path.of("clients").toAbsolutePath();
    private static final int AT_A_TIME = 3;
    private static final int MINUTES_EACH = 8;

    @RegisterExtension
    final Clusters clusters = new Clusters();

    @Test
    void everyCheckOfEveryStockClientPasses() throws Exception {
        Map<String, List<String>> programs = installed();
        assertThat(programs).as("the Java clients are always there").containsKey("kafka-clients 2.1");
        String bootstrap = clusters.start(ClusterShape.of(1, 3, 2)).bootstrap();

        ExecutorService pool = Executors.newFixedThreadPool(AT_A_TIME);
        Map<String, Future<String>> running = new LinkedHashMap<>();
        try {
            programs.forEach(
                    (name, command) -> running.put(name, pool.submit(() -> failuresOf(name, command, bootstrap))));
            List<String> failures = new ArrayList<>();
            for (Map.Entry<String, Future<String>> one : running.entrySet()) {
                String failure = one.getValue().get(MINUTES_EACH * (long) running.size(), TimeUnit.MINUTES);
                if (!failure.isEmpty()) {
                    failures.add(one.getKey() + ":\n" + failure);
                }
            }
            assertThat(failures).isEmpty();
        } finally {
            pool.shutdownNow();
        }
    }

    /** The commands, without the bootstrap address, of those that can run here; the others are named on the way. */
    private static Map<String, List<String>> installed() {
        Map<String, List<String>> all = new LinkedHashMap<>();
        Path python = INSTALLED.resolve("python/bin/python");
        all.put(
                "confluent-kafka",
                List.of("" + python, "" + PROGRAMS.resolve("python/confluent_client.py"), "BOOTSTRAP"));
        all.put(
                "kafka-python",
                List.of("" + python, "" + PROGRAMS.resolve("python/kafka_python_client.py"), "BOOTSTRAP"));
        all.put("franz-go", List.of("" + INSTALLED.resolve("franz"), "BOOTSTRAP"));
        all.put("sarama", List.of("" + INSTALLED.resolve("sarama"), "BOOTSTRAP"));
        if (Files.isDirectory(INSTALLED.resolve("node_modules"))) {
            all.put("kafkajs", List.of("node", "" + INSTALLED.resolve("kafkajs_client.mjs"), "BOOTSTRAP"));
        } else {
            System.out.println("SKIPPED client kafkajs: run itest/clients/install.sh");
        }
        if (Files.isDirectory(INSTALLED.resolve("spring"))) {
            String libraries = INSTALLED.resolve("spring") + "/*";
            all.put(
                    "spring-kafka",
                    JavaProgram.command(
                            "256m",
                            libraries,
                            List.of(
                                    "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
                                    "" + PROGRAMS.resolve("spring/SpringClient.java"),
                                    "BOOTSTRAP")));
        } else {
            System.out.println("SKIPPED client spring-kafka: run itest/clients/install.sh");
        }
        all.entrySet().removeIf(program -> {
            String executable = program.getValue().get(0);
            boolean missing = executable.startsWith("/") && !Files.isExecutable(Path.of(executable));
            if (missing) {
                System.out.println("SKIPPED client " + program.getKey() + ": run itest/clients/install.sh");
            }
            return missing;
        });
        for (String version : List.of("3.9", "2.8", "2.1")) {
            all.put("kafka-clients " + version, javaClient(version));
        }
        return all;
    }

    private static List<String> javaClient(String version) {
        return JavaProgram.command(
                "256m",
                OlderClients.classPath(version),
                List.of(StockClientProgram.class.getName(), "BOOTSTRAP", version));
    }

    /** Runs one program; the lines of its failed checks, or why it did not come to its end; empty if all is well. */
    private String failuresOf(String name, List<String> command, String bootstrap)
            throws IOException, InterruptedException {
        Path log = clusters.directory().resolve(name.replace(' ', '-') + ".log");
        List<String> full = command.stream()
                .map(word -> word.equals("BOOTSTRAP") ? bootstrap : word)
                .toList();
        Process process = new ProcessBuilder(full)
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        boolean ended = process.waitFor(MINUTES_EACH, TimeUnit.MINUTES);
        process.destroyForcibly();
        List<String> lines = Files.readAllLines(log);
        System.out.println(name + ": " + (lines.isEmpty() ? "no output" : lines.get(lines.size() - 1)));
        if (!ended) {
            return "not done after " + MINUTES_EACH + " minutes:\n" + String.join("\n", lines);
        }
        return process.exitValue() == 0 ? "" : String.join("\n", lines);
    }
}
