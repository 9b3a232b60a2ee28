package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.report.TopicReport;
import io.varve.cli.text.Json;
import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataClient;
import java.io.PrintStream;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** One topic, partition by partition. */
@Command(
        name = "describe",
        description = "Shows a topic's partitions: owners, epochs, and how much lies in which tier.")
final class TopicDescribeCommand implements Callable<Integer> {

    @Mixin
    private MetadataOptions metadata;

    @Parameters(paramLabel = "TOPIC", description = "The topic's name.")
    private String name;

    @Option(names = "--json", description = "Prints JSON.")
    private boolean json;

    @Override
    public Integer call() {
        try (MetadataLink link = metadata.connect()) {
            MetadataClient client = link.client();
            TopicReport report = TopicReport.of(MetadataOptions.topic(client.view(), name), client.view());
            if (json) {
                Json.print(System.out, report);
            } else {
                print(report, System.out);
            }
        }
        return 0;
    }

    private static void print(TopicReport report, PrintStream out) {
        out.println(report.name() + "  id " + report.id() + "  replication.factor " + report.replicas()
                + "  min.insync.replicas " + report.acks());
        report.configs().forEach((key, value) -> out.println("  " + key + "=" + value));
        Table table = new Table(
                "PARTITION",
                "OWNER",
                "EPOCH",
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
                    row.logStart(),
                    row.sealedEnd(),
                    row.segments(),
                    Units.bytes(row.localBytes()),
                    Units.bytes(row.objectBytes()),
                    row.underReplicated());
        }
        table.print(out);
    }
}
