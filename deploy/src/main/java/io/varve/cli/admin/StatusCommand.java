package io.varve.cli.admin;

import io.varve.cli.link.MetadataProbe;
import io.varve.cli.report.ClusterReport;
import io.varve.cli.report.MetadataReport;
import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataView;
import io.varve.protocol.runtime.SystemClock;
import java.io.PrintStream;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;

/** The cluster at a glance. */
@Command(
        name = "status",
        description =
                "Shows the cluster: its nodes, what they hold, and what is behind: repair, offload, partitions without"
                        + " an owner.")
public final class StatusCommand extends ViewCommand<ClusterReport> {

    @Override
    ClusterReport report(MetadataView view) {
        long nowMs = SystemClock.INSTANCE.wallTimeMs();
        MetadataReport nodes = MetadataReport.of(MetadataProbe.ask(metadata.nodes(), metadata.patience()), nowMs);
        return ClusterReport.of(view, nodes.nodes(), nowMs);
    }

    @Override
    void print(ClusterReport report, PrintStream out) {
        printTotals(report, out);
        out.println();
        OffloadCommand.print(
                report.segmentsToOffload(),
                report.bytesToOffload(),
                report.oldestToOffloadMs(),
                report.uploadsPaused(),
                report.offloadErrors(),
                report.alarms(),
                out);
        out.println();
        metadataNodes(report).print(out);
        out.println();
        brokers(report).print(out);
        out.println();
        bookies(report).print(out);
        if (!report.tasks().isEmpty()) {
            out.println();
            out.println(report.tasks().entrySet().stream()
                    .map(task -> task.getKey() + " " + task.getValue())
                    .collect(Collectors.joining(", ", "Under way: ", "")));
        }
    }

    private static void printTotals(ClusterReport report, PrintStream out) {
        new Table(
                        "CLUSTER",
                        "VERSION",
                        "TOPICS",
                        "PARTITIONS",
                        "WITHOUT OWNER",
                        "SEGMENTS",
                        "UNDER-REPLICATED",
                        "IN OBJECTS",
                        "TO OFFLOAD")
                .row(
                        report.clusterId(),
                        report.version(),
                        report.topics(),
                        report.partitions(),
                        report.partitionsWithoutOwner(),
                        report.segments(),
                        report.segmentsUnderReplicated(),
                        Units.bytes(report.bytesInObjects()),
                        report.segmentsToOffload())
                .print(out);
    }

    private static Table metadataNodes(ClusterReport report) {
        Table nodes = new Table("METADATA", "ROLE", "ADDRESS", "TERM", "APPLIED", "LAG", "DISK FREE");
        for (MetadataReport.NodeRow node : report.metadataNodes()) {
            boolean isHere = !node.role().equals(MetadataReport.SILENT);
            nodes.row(
                    node.id(),
                    node.role(),
                    node.address(),
                    isHere ? node.term() : "-",
                    isHere ? node.appliedIndex() : "-",
                    isHere && node.lagEntries() >= 0 ? node.lagEntries() : "-",
                    isHere ? Units.bytes(node.diskFreeBytes()) : "-");
        }
        return nodes;
    }

    private static Table brokers(ClusterReport report) {
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
        return brokers;
    }

    private static Table bookies(ClusterReport report) {
        Table bookies = new Table(
                "BOOKIE", "STATE", "SESSION", "RACK", "ADDRESS", "FREE", "TOTAL", "SEGMENTS", "HELD", "TASKS");
        for (ClusterReport.BookieRow bookie : report.bookies()) {
            bookies.row(
                    bookie.id(),
                    bookie.goneSinceMs() < 0
                            ? bookie.state()
                            : bookie.state() + " since "
                                    + Instant.ofEpochMilli(bookie.goneSinceMs()).truncatedTo(ChronoUnit.SECONDS),
                    bookie.session(),
                    orDash(bookie.rack()),
                    bookie.address(),
                    Units.bytes(bookie.freeBytes()),
                    Units.bytes(bookie.totalBytes()),
                    bookie.replicas(),
                    Units.bytes(bookie.replicaBytes()),
                    bookie.tasks());
        }
        return bookies;
    }

    private static String orDash(String text) {
        return text.isEmpty() ? "-" : text;
    }
}
