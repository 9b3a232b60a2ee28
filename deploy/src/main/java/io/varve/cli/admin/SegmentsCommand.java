package io.varve.cli.admin;

import io.varve.cli.report.SegmentsReport;
import io.varve.metadata.api.MetadataView;
import java.io.PrintStream;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Where each segment of a topic lives. */
@Command(
        name = "segments",
        description = "Shows a topic's chains: every segment with its offsets, its bookies and its object.")
public final class SegmentsCommand extends ViewCommand<SegmentsReport> {

    @Parameters(paramLabel = "TOPIC", description = "The topic's name.")
    private String name;

    @Override
    SegmentsReport report(MetadataView view) {
        return SegmentsReport.of(MetadataOptions.topic(view, name), view);
    }

    @Override
    void print(SegmentsReport report, PrintStream out) {
        report.table().print(out);
    }
}
