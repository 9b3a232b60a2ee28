package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.report.ClusterReport;
import io.varve.cli.text.Json;
import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataClient;
import io.varve.protocol.runtime.SystemClock;
import java.io.PrintStream;
import java.time.Instant;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The cluster at a glance. */
@Command(
        name = "status",
        description =
                "Shows the cluster: its nodes, what they hold, and what is behind: repair, offload, partitions without"
                        + " an owner.")
public final class StatusCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public Integer call() {
        try (MetadataLink link = metadata.connect()) {
            MetadataClient client = link.client();
            ClusterReport report = ClusterReport.of(client.view(), SystemClock.INSTANCE.wallTimeMs());
            if (json) {
                Json.print(System.out, report);
            } else {
                print(report, System.out);
            }
        }
        return 0;
    }

    private static void print(ClusterReport report, PrintStream out) {
        new Table(
                        "CLUSTER",
                        "VERSION",
                        "TOPICS",
                        "PARTITIONS",
                        "WITHOUT OWNER",
                        "SEGMENTS",
                        "UNDER-REPLICATED",
                        "TO OFFLOAD")
                .row(
                        report.clusterId(),
                        report.version(),
                        report.topics(),
                        report.partitions(),
                        report.partitionsWithoutOwner(),
                        report.segments(),
                        report.segmentsUnderReplicated(),
                        report.segmentsToOffload() + " (" + Units.bytes(report.bytesToOffload()) + ")")
                .print(out);
        out.println();
        OffloadCommand.print(
                report.segmentsToOffload(),
                report.bytesToOffload(),
                report.oldestToOffloadMs(),
                report.uploadsPaused(),
                report.offloadErrors(),
                out);
        out.println();
        Table brokers = new Table("BROKER", "STATE", "SESSION", "RACK", "PARTITIONS", "LISTENERS");
        for (ClusterReport.BrokerRow broker : report.brokers()) {
            brokers.row(
                    broker.id(),
                    broker.state(),
                    broker.session(),
                    orDash(broker.rack()),
                    broker.partitions(),
                    String.join(" ", broker.listeners()));
        }
        brokers.print(out);
        out.println();
        Table bookies = new Table(
                "BOOKIE", "STATE", "SESSION", "RACK", "ADDRESS", "FREE", "TOTAL", "SEGMENTS", "HELD", "TASKS");
        for (ClusterReport.BookieRow bookie : report.bookies()) {
            bookies.row(
                    bookie.id(),
                    bookie.goneSinceMs() < 0
                            ? bookie.state()
                            : bookie.state() + " since " + Instant.ofEpochMilli(bookie.goneSinceMs()),
                    bookie.session(),
                    orDash(bookie.rack()),
                    bookie.address(),
                    Units.bytes(bookie.freeBytes()),
                    Units.bytes(bookie.totalBytes()),
                    bookie.replicas(),
                    Units.bytes(bookie.replicaBytes()),
                    bookie.tasks());
        }
        bookies.print(out);
        if (!report.tasks().isEmpty()) {
            out.println();
            out.println(report.tasks().entrySet().stream()
                    .map(task -> task.getKey() + " " + task.getValue())
                    .collect(Collectors.joining(", ", "Under way: ", "")));
        }
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}
