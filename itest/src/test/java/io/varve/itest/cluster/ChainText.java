package io.varve.itest.cluster;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What a partition looks like, for whoever waited for it in vain: the segments that are not as they should be first, for the end of a long text may be cut off. */
public final class ChainText {

    private static final int SEGMENTS_MAX = 4;

    private ChainText() {}

    /** @param awaited what all sealed segments were to be */
    public static String of(MetadataView view, String topic, int partition, Predicate<SegmentDescriptor> awaited) {
        return view.topic(topic)
                .flatMap(t -> view.partition(new PartitionId(t.id(), partition)))
                .map(state -> of(view, state, awaited))
                .orElse("no partition " + topic + "-" + partition);
    }

    private static String of(MetadataView view, PartitionState partition, Predicate<SegmentDescriptor> awaited) {
        List<SegmentDescriptor> sealed = partition.chain().segments().stream()
                .filter(segment -> segment.state() == SegmentDescriptor.State.SEALED)
                .toList();
        List<SegmentDescriptor> other = sealed.stream().filter(awaited.negate()).toList();
        return other.size() + " of " + sealed.size() + " sealed segments are not so: "
                + other.stream()
                        .limit(SEGMENTS_MAX)
                        .map(segment -> of(view, segment))
                        .collect(Collectors.joining("; "))
                + (other.size() > SEGMENTS_MAX ? "; …" : "")
                + "\nopen: "
                + partition.chain().open().map(open -> of(view, open)).orElse("none")
                + ", owner " + partition.owner() + " in epoch " + partition.epoch()
                + ", log start " + partition.logStartOffset()
                + partition.chain().manifest().map(m -> ", " + m).orElse("")
                + "\nbrokers "
                + view.brokers().stream().map(b -> b.id() + " " + b.state()).toList()
                + ", bookies "
                + view.bookies().stream().map(b -> b.id() + " " + b.state()).toList()
                + "\ntasks " + view.tasks()
                + "\nalarms " + view.alarms();
    }

    /** One segment: its id, its offsets, how far it is compacted, where it is, and what went wrong with it last. */
    private static String of(MetadataView view, SegmentDescriptor segment) {
        return segment.id()
                + " [" + segment.startOffset() + ", "
                + (segment.endOffset() == SegmentDescriptor.UNSEALED ? "…" : segment.endOffset()) + ")"
                + (segment.isCompacted() ? " compacted below " + segment.compactedEnd() : " not compacted")
                + " on "
                + segment.replicas().stream().map(r -> r.bookie().value()).toList()
                + (segment.unconfirmed().isEmpty()
                        ? ""
                        : " unconfirmed "
                                + segment.unconfirmed().stream()
                                        .map(r -> r.bookie().value())
                                        .toList())
                + segment.object()
                        .map(object ->
                                " in " + object.key().substring(object.key().lastIndexOf('/') + 1))
                        .orElse(" in no object")
                + view.failure(segment.id()).map(f -> " " + f).orElse("");
    }
}
