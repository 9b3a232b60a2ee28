package io.varve.cli.admin;

import io.varve.cli.link.MetadataLink;
import io.varve.cli.report.SegmentsReport;
import io.varve.cli.text.Json;
import io.varve.metadata.api.MetadataClient;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Where each segment of a topic lives. */
@Command(
        name = "segments",
        description = "Shows a topic's chains: every segment with its offsets, its bookies and its object.")
public final class SegmentsCommand implements Callable<Integer> {

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
            SegmentsReport report = SegmentsReport.of(MetadataOptions.topic(client.view(), name), client.view());
            if (json) {
                Json.print(System.out, report);
            } else {
                report.table().print(System.out);
            }
        }
        return 0;
    }
}
