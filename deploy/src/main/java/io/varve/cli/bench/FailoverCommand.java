package io.varve.cli.bench;

import io.varve.cli.text.Json;
import io.varve.cli.text.Table;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.CreateTopicsOptions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.common.TopicPartitionInfo;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** How long a steady producer and a steady consumer stand still when the broker that serves them dies; the same for every system that speaks Kafka's protocol. */
@Command(
        name = "failover",
        description = {
            "Kills the broker that serves a partition again and again, with a command that is given, under a steady"
                    + " producer and consumer of it, and",
            "reports for how long each of them got nothing, and whether a record was lost, repeated or out of order."
        })
public final class FailoverCommand implements Callable<Integer> {

    private static final Duration LOOK = Duration.ofMillis(50);

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--bootstrap-server",
            defaultValue = "localhost:9092",
            description = "Where the cluster is (${DEFAULT-VALUE}).")
    private String bootstrap;

    @Option(
            names = "--kill-command",
            required = true,
            paramLabel = "COMMAND",
            description = "Kills a broker, through the shell; {id} stands for its node.id.")
    private String killCommand;

    @Option(
            names = "--start-command",
            required = true,
            paramLabel = "COMMAND",
            description = "Starts it again, likewise. It may return before the broker is ready, and must not stay.")
    private String startCommand;

    @Option(names = "--kills", defaultValue = "20", description = "How many (${DEFAULT-VALUE}).")
    private int kills;

    @Option(names = "--rate", defaultValue = "200", description = "Records in a second (${DEFAULT-VALUE}).")
    private int rate;

    @Option(names = "--size", defaultValue = "100", description = "Bytes of each value, 8 or more (${DEFAULT-VALUE}).")
    private int size;

    @Option(
            names = "--replication-factor",
            defaultValue = "-1",
            description = "Of the topic that is made; the cluster's by default.")
    private short replicationFactor;

    @Option(
            names = "--calm-ms",
            defaultValue = "2000",
            description = "Between all being whole again and the next kill (${DEFAULT-VALUE}).")
    private long calmMs;

    @Option(
            names = "--timeout-seconds",
            defaultValue = "120",
            description = "What any wait ends with (${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        String topic = "varve-failover-" + Long.toString(System.currentTimeMillis(), 36);
        try (Admin admin = Admin.create(Map.of(
                "bootstrap.servers",
                bootstrap,
                "request.timeout.ms",
                "5000",
                "default.api.timeout.ms",
                "5000",
                "retry.backoff.ms",
                "50"))) {
            // Each look at the cluster is short, so that another one follows; this is done once.
            CreateTopicsOptions patiently = new CreateTopicsOptions().timeoutMs(timeoutSeconds * 1_000);
            admin.createTopics(List.of(new NewTopic(topic, 1, replicationFactor)), patiently)
                    .all()
                    .get(timeoutSeconds, TimeUnit.SECONDS);
            FailoverResult result = run(admin, topic);
            if (json) {
                Json.print(System.out, result);
            } else {
                table(result).print(System.out);
            }
            return result.isSound() ? 0 : 1;
        } catch (BenchFailure e) {
            spec.commandLine().getErr().println("varve bench failover: " + e.getMessage());
            return 1;
        }
    }

    private FailoverResult run(Admin admin, String topic) throws Exception {
        int nodes = await("the cluster", () -> nodes(admin));
        int inSync = await("the topic", () -> partition(admin, topic).isr().size());
        List<Long> writing = new ArrayList<>();
        List<Long> reading = new ArrayList<>();
        try (FailoverClients clients =
                new FailoverClients(bootstrap, topic, rate, size, Duration.ofSeconds(timeoutSeconds))) {
            awaitMore(clients);
            for (int kill = 0; kill < kills; kill++) {
                int leader = await("a leader", () -> leader(admin, topic));
                clients.startWindow();
                shell(killCommand, leader);
                await("another leader", () -> leader(admin, topic) != leader ? 1 : null);
                awaitMore(clients);
                writing.add(clients.longestWritingMs());
                reading.add(clients.longestReadingMs());
                shell(startCommand, leader);
                await("all brokers", () -> nodes(admin) >= nodes ? 1 : null);
                await("all replicas", () -> partition(admin, topic).isr().size() >= inSync ? 1 : null);
                pause(Duration.ofMillis(calmMs));
            }
            clients.finish();
            return FailoverResult.of(writing, reading, clients.acknowledged(), clients.missing(), clients.outOfOrder());
        }
    }

    /** A second's worth more, written and read. */
    private void awaitMore(FailoverClients clients) {
        long written = clients.acknowledged() + rate;
        await("more records written", () -> clients.acknowledged() >= written ? 1 : null);
        await("more records read", () -> clients.read() >= written ? 1 : null);
    }

    private static TopicPartitionInfo partition(Admin admin, String topic) throws Exception {
        return admin.describeTopics(List.of(topic))
                .allTopicNames()
                .get(10, TimeUnit.SECONDS)
                .get(topic)
                .partitions()
                .get(0);
    }

    private static int nodes(Admin admin) throws Exception {
        return admin.describeCluster().nodes().get(10, TimeUnit.SECONDS).size();
    }

    private static Integer leader(Admin admin, String topic) throws Exception {
        var leader = partition(admin, topic).leader();
        return leader == null || leader.isEmpty() ? null : leader.id();
    }

    private void shell(String command, int id) throws IOException, InterruptedException {
        Process process = new ProcessBuilder("sh", "-c", command.replace("{id}", Integer.toString(id)))
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (!process.waitFor(timeoutSeconds, TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new BenchFailure("the command failed: " + command, null);
        }
    }

    private interface Look<T> {
        /** @return null if it isn't so yet */
        T look() throws Exception;
    }

    private <T> T await(String what, Look<T> look) {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(timeoutSeconds);
        Exception last = null;
        while (System.nanoTime() - deadlineNs < 0) {
            try {
                T found = look.look();
                if (found != null) {
                    return found;
                }
            } catch (Exception e) {
                last = e; // Nobody answers yet.
            }
            pause(LOOK);
        }
        throw new BenchFailure("not within " + timeoutSeconds + " s: " + what, last);
    }

    private static void pause(Duration length) {
        try {
            TimeUnit.MILLISECONDS.sleep(length.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted", e);
        }
    }

    private static Table table(FailoverResult result) {
        Table table = new Table("MS WITHOUT", "KILLS", "LEAST", "MEDIAN", "P90", "WORST");
        table.row(
                "an acknowledgement",
                result.kills(),
                result.writing().leastMs(),
                result.writing().medianMs(),
                result.writing().p90Ms(),
                result.writing().worstMs());
        table.row(
                "a record",
                result.kills(),
                result.reading().leastMs(),
                result.reading().medianMs(),
                result.reading().p90Ms(),
                result.reading().worstMs());
        table.row(
                "records " + result.acknowledged() + ", lost " + result.missing() + ", out of order "
                        + result.outOfOrder(),
                "",
                "",
                "",
                "",
                "");
        return table;
    }
}
