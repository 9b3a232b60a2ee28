package io.varve.cli.bench;

import io.varve.cli.text.Json;
import io.varve.cli.text.Units;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.kafka.clients.admin.Admin;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures a cluster through the stock client, be it of Varve or of anything else that speaks Kafka's protocol. */
@Command(
        name = "bench",
        subcommands = FailoverCommand.class,
        description = {
            "Measures a running cluster through the stock Java client: produce with acks=all, end to end at the tail,"
                    + " and catch-up from the start.",
            "With --cold the catch-up waits until what was written lies in object storage and its local copies are"
                    + " gone."
        })
public final class BenchCommand implements Callable<Integer> {

    enum Phase {
        PRODUCE,
        TAIL,
        CATCHUP;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--bootstrap-server",
            defaultValue = "localhost:9092",
            description = "Where the cluster is (${DEFAULT-VALUE}).")
    private String bootstrap;

    @Option(names = "--phases", split = ",", description = "Which of ${COMPLETION-CANDIDATES}; all by default.")
    private EnumSet<Phase> phases = EnumSet.allOf(Phase.class);

    @Option(names = "--topic", description = "Measures in this topic and keeps it; by default one is made and deleted.")
    private String topic;

    @Option(names = "--partitions", defaultValue = "8", description = "Of the topic made (${DEFAULT-VALUE}).")
    private int partitions;

    @Option(
            names = "--replication-factor",
            defaultValue = "-1",
            description = "Of the topic made; the cluster's by default.")
    private short replicationFactor;

    @Option(
            names = "--records",
            defaultValue = "500000",
            description = "Written by the produce phase (${DEFAULT-VALUE}).")
    private long records;

    @Option(
            names = "--size",
            defaultValue = "1000",
            description = "Bytes of each value, 16 or more (${DEFAULT-VALUE}).")
    private int size;

    @Option(
            names = "--rate",
            defaultValue = "0",
            description = "Records in a second of the produce phase; 0: as many as go.")
    private long rate;

    @Option(
            names = "--tail-rate",
            defaultValue = "5000",
            description = "Records in a second of the tail phase (${DEFAULT-VALUE}).")
    private long tailRate;

    @Option(names = "--tail-seconds", defaultValue = "15", description = "Length of the tail phase (${DEFAULT-VALUE}).")
    private int tailSeconds;

    @Option(
            names = "--cold",
            description = "Small segments, local copies deleted at once, and catch-up from object storage.")
    private boolean cold;

    @Option(
            names = "--timeout-seconds",
            defaultValue = "120",
            description = "What any wait ends with (${DEFAULT-VALUE}).")
    private int timeoutSeconds;

    @Option(
            names = "-X",
            description = "Configuration for the clients, such as -X linger.ms=0.",
            paramLabel = "KEY=VALUE")
    private Map<String, String> client = new TreeMap<>();

    @Option(names = "--json", description = "Prints the results as JSON.")
    private boolean json;

    @Override
    public Integer call() throws Exception {
        if (size < BenchOptions.VALUE_BYTES_MIN || partitions < 1 || records < 1 || tailRate < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--size wants 16 or more; --partitions, --records and --tail-rate 1 or more.");
        }
        String measured = topic != null ? topic : "varve-bench-" + Long.toString(System.currentTimeMillis(), 36);
        BenchOptions options = new BenchOptions(
                bootstrap,
                measured,
                partitions,
                records,
                size,
                rate,
                tailRate,
                Duration.ofSeconds(tailSeconds),
                Duration.ofSeconds(timeoutSeconds),
                client);
        List<BenchResult> results;
        Admin admin = Admin.create(Map.of(
                "bootstrap.servers", bootstrap, "default.api.timeout.ms", Long.toString(timeoutSeconds * 1_000L)));
        try {
            BenchTopic benchTopic = new BenchTopic(admin, options);
            if (topic == null) {
                benchTopic.create(replicationFactor, cold);
            }
            try {
                results = run(options, benchTopic);
            } finally {
                if (topic == null) {
                    benchTopic.delete();
                }
            }
        } catch (BenchFailure e) {
            spec.commandLine().getErr().println("varve bench: " + e.getMessage());
            return 1;
        } finally {
            admin.close(Duration.ZERO);
        }
        if (json) {
            Json.print(System.out, results);
        } else {
            BenchResult.table(results).print(System.out);
        }
        return 0;
    }

    private List<BenchResult> run(BenchOptions options, BenchTopic benchTopic) {
        List<BenchResult> results = new ArrayList<>();
        for (Phase phase : phases) {
            switch (phase) {
                case PRODUCE -> results.add(new ProducePhase(options).run());
                case TAIL -> results.add(new TailPhase(options).run());
                case CATCHUP -> {
                    String note = cold ? Units.count(benchTopic.awaitCold()) + "% below the local log start" : "";
                    results.add(new CatchUpPhase(options).run(cold ? "catchup cold" : "catchup", note));
                }
            }
        }
        return results;
    }
}
