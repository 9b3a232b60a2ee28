package io.varve.cli.admin;

import io.varve.base.StartupException;
import io.varve.cli.link.MetadataProbe;
import io.varve.cli.report.MetadataReport;
import io.varve.cli.text.Json;
import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The metadata service at a glance. */
@Command(
        name = "status",
        description = {
            "Shows every node of the metadata service by its own word: who leads, how far each has got, how old its snapshot is.",
            "Works without a quorum, too. Ends with 0 if there is a leader, with 13 if there is none."
        })
public final class MetadataStatusCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public Integer call() {
        MetadataReport report =
                MetadataReport.of(MetadataProbe.ask(metadata.nodes(), metadata.patience()), System.currentTimeMillis());
        if (json) {
            Json.print(System.out, report);
        } else {
            print(report, System.out);
        }
        return report.leader() >= 0 ? 0 : StartupException.Reason.NO_QUORUM.exitCode();
    }

    private static void print(MetadataReport report, PrintStream out) {
        new Table("CLUSTER", "LEADER", "TERM", "VERSION", "MEMBERS", "ANSWERING", "FAILURES BORNE")
                .row(
                        report.clusterId().isEmpty() ? "-" : report.clusterId(),
                        report.leader() < 0 ? "none" : report.leader(),
                        report.term() < 0 ? "-" : report.term(),
                        report.version() < 0 ? "-" : report.version(),
                        report.members(),
                        report.answering(),
                        report.failuresBorne())
                .print(out);
        out.println();
        Table nodes = new Table(
                "NODE",
                "ADDRESS",
                "ROLE",
                "TERM",
                "APPLIED",
                "LAG",
                "LOG FROM",
                "SNAPSHOT",
                "SNAPSHOT AGE",
                "DISK FREE",
                "CLOCK AHEAD");
        for (MetadataReport.NodeRow node : report.nodes()) {
            boolean isHere = !node.role().equals(MetadataReport.SILENT);
            nodes.row(
                    node.id(),
                    node.address(),
                    node.role(),
                    isHere ? node.term() : "-",
                    isHere ? node.appliedIndex() : "-",
                    isHere && node.lagEntries() >= 0 ? node.lagEntries() : "-",
                    isHere ? node.logStartIndex() : "-",
                    isHere && node.snapshotIndex() > 0 ? node.snapshotIndex() : "-",
                    node.snapshotAgeMs() >= 0 ? node.snapshotAgeMs() / 1_000 + " s" : "-",
                    isHere ? Units.bytes(node.diskFreeBytes()) : "-",
                    isHere ? node.clockAheadMs() / 1_000 + " s" : "-");
        }
        nodes.print(out);
    }
}
