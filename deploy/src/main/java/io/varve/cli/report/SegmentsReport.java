package io.varve.cli.report;

import io.varve.cli.text.Table;
import io.varve.cli.text.Units;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Where each segment of a topic lives. */
public record SegmentsReport(String topic, List<SegmentRow> segments) {

    /**
     * One segment, or the stretch of a chain that a manifest describes.
     *
     * @param segment its id, 0 for a manifest's stretch
     * @param count how many segments it is: 1, or as many as the manifest describes
     * @param end exclusive, -1 while it is open
     * @param bytes -1 while it is open
     * @param tier {@code bookies}, {@code bookies+object}, {@code object} or {@code manifest}
     * @param bookies the bookies that hold a copy
     * @param unconfirmed bookies that were written to, and are not known to hold all of it
     * @param key the object's, or empty
     */
    public record SegmentRow(
            int partition,
            long segment,
            long count,
            int epoch,
            String state,
            long start,
            long end,
            long bytes,
            String tier,
            List<Integer> bookies,
            List<Integer> unconfirmed,
            String key) {}

    /** The report on {@code topic} as of {@code view}. */
    public static SegmentsReport of(Topic topic, MetadataView view) {
        List<SegmentRow> rows = new ArrayList<>();
        for (PartitionState partition : view.partitions(topic.id())) {
            partition.chain().manifest().ifPresent(manifest -> rows.add(row(partition, manifest)));
            partition.chain().segments().forEach(segment -> rows.add(row(segment)));
        }
        return new SegmentsReport(topic.name(), List.copyOf(rows));
    }

    private static SegmentRow row(PartitionState partition, ManifestRef manifest) {
        return new SegmentRow(
                partition.id().index(),
                0,
                manifest.segments(),
                0,
                "SEALED",
                manifest.startOffset(),
                manifest.endOffset(),
                manifest.bytes(),
                "manifest",
                List.of(),
                List.of(),
                manifest.key());
    }

    private static SegmentRow row(SegmentDescriptor segment) {
        return new SegmentRow(
                segment.partition().index(),
                segment.id().value(),
                1,
                segment.epoch(),
                segment.state().name(),
                segment.startOffset(),
                segment.endOffset(),
                segment.bytes(),
                SegmentHealth.tier(segment),
                bookies(segment.replicas()),
                bookies(segment.unconfirmed()),
                segment.object().map(ObjectRef::key).orElse(""));
    }

    private static List<Integer> bookies(List<Replica> replicas) {
        return replicas.stream().map(replica -> replica.bookie().value()).toList();
    }

    /** Those that hold all of it, and in parentheses those that may. */
    private static String bookies(SegmentRow row) {
        Stream<String> may = row.unconfirmed.stream().map(bookie -> "(" + bookie + ")");
        String all =
                Stream.concat(row.bookies.stream().map(String::valueOf), may).collect(Collectors.joining(","));
        return all.isEmpty() ? "-" : all;
    }

    /** The rows for a terminal. */
    public Table table() {
        Table table = new Table(
                "PARTITION", "SEGMENT", "EPOCH", "STATE", "START", "END", "BYTES", "TIER", "BOOKIES", "OBJECT");
        for (SegmentRow row : segments) {
            table.row(
                    row.partition,
                    row.segment > 0 ? row.segment : Units.count(row.count) + " segments",
                    row.segment > 0 ? row.epoch : "-",
                    row.state,
                    row.start,
                    row.end < 0 ? "-" : row.end,
                    row.bytes < 0 ? "-" : Units.bytes(row.bytes),
                    row.tier,
                    bookies(row),
                    row.key.isEmpty() ? "-" : row.key);
        }
        return table;
    }
}
