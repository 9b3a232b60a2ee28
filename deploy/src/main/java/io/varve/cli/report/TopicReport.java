package io.varve.cli.report;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.Uuid;

/**
 * One topic, partition by partition.
 *
 * @param id as in the keys of its objects
 * @param kafkaId the same, as Kafka's tools write it
 * @param replicas R
 * @param acks A
 * @param configs what was set on the topic itself
 */
public record TopicReport(
        String name,
        String id,
        String kafkaId,
        int replicas,
        int acks,
        Map<String, String> configs,
        List<PartitionRow> partitions) {

    /**
     * One partition.
     *
     * @param owner the broker, -1 if none
     * @param writtenTo the bookies that hold its open segment; empty if it has none
     * @param sealedEnd where the last sealed segment ends, or where the open one starts
     * @param segments in Raft and in manifests together
     * @param localBytes of sealed segments that bookies hold
     * @param objectBytes of entries that object storage holds, those that manifests describe too: as they are uncompressed
     * @param underReplicated segments short of copies
     */
    public record PartitionRow(
            int partition,
            int owner,
            int epoch,
            List<Integer> writtenTo,
            long logStart,
            long sealedEnd,
            long segments,
            long localBytes,
            long objectBytes,
            long underReplicated) {}

    /** The report on {@code topic} as of {@code view}. */
    public static TopicReport of(Topic topic, MetadataView view) {
        return new TopicReport(
                topic.name(),
                topic.id().toString(),
                new Uuid(topic.id().high(), topic.id().low()).toString(),
                topic.replicas(),
                topic.acks(),
                topic.configs(),
                view.partitions(topic.id()).stream()
                        .map(partition -> row(partition, topic, view))
                        .toList());
    }

    private static PartitionRow row(PartitionState partition, Topic topic, MetadataView view) {
        long sealedEnd =
                partition.chain().manifest().map(ManifestRef::endOffset).orElse(partition.logStartOffset());
        long segments = partition.chain().manifest().map(ManifestRef::segments).orElse(0L);
        long objectBytes = partition.chain().manifest().map(ManifestRef::bytes).orElse(0L);
        long localBytes = 0;
        long underReplicated = 0;
        for (SegmentDescriptor segment : partition.chain().segments()) {
            segments++;
            sealedEnd = segment.state() == SegmentDescriptor.State.SEALED ? segment.endOffset() : segment.startOffset();
            localBytes += segment.replicas().isEmpty() ? 0 : Math.max(0, segment.bytes());
            underReplicated += SegmentHealth.isUnderReplicated(segment, topic, view) ? 1 : 0;
            objectBytes += segment.isOffloaded() ? Math.max(0, segment.bytes()) : 0;
        }
        return new PartitionRow(
                partition.id().index(),
                partition.owner(),
                partition.epoch(),
                partition.chain().open().map(SegmentDescriptor::replicas).orElse(List.of()).stream()
                        .map(replica -> replica.bookie().value())
                        .toList(),
                partition.logStartOffset(),
                sealedEnd,
                segments,
                localBytes,
                objectBytes,
                underReplicated);
    }
}
