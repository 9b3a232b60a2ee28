package io.varve.cli.admin;

import io.varve.cli.report.TopicReport;
import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataView;
import java.io.PrintStream;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** One topic, partition by partition. */
@Command(
        name = "describe",
        description = {
            "Shows a topic's partitions: owners, epochs, the bookies that each is written to, and how much lies in which tier.",
            "The chains themselves are shown by varve segments."
        })
final class TopicDescribeCommand extends ViewCommand<TopicReport> {

    @Parameters(paramLabel = "TOPIC", description = "The topic's name.")
    private String name;

    @Override
    TopicReport report(MetadataView view) {
        return TopicReport.of(MetadataOptions.topic(view, name), view);
    }

    @Override
    void print(TopicReport report, PrintStream out) {
        out.println(report.name() + "  id " + report.id() + " (" + report.kafkaId()
                + " in Kafka's tools)  replication.factor " + report.replicas() + "  min.insync.replicas "
                + report.acks());
        report.configs().forEach((key, value) -> out.println("  " + key + "=" + value));
        out.println();
        Table table = new Table(
                "PARTITION",
                "OWNER",
                "EPOCH",
                "WRITTEN TO",
                "LOG START",
                "SEALED END",
                "SEGMENTS",
                "ON BOOKIES",
                "IN OBJECTS",
                "UNDER-REPLICATED");
        for (TopicReport.PartitionRow row : report.partitions()) {
            table.row(
                    row.partition(),
                    row.owner() < 0 ? "-" : row.owner(),
                    row.epoch(),
                    bookies(row.writtenTo()),
                    row.logStart(),
                    row.sealedEnd(),
                    row.segments(),
                    Units.bytes(row.localBytes()),
                    Units.bytes(row.objectBytes()),
                    row.underReplicated());
        }
        table.print(out);
    }

    private static String bookies(List<Integer> ids) {
        return ids.isEmpty() ? "-" : ids.stream().map(String::valueOf).collect(Collectors.joining(","));
    }
}
