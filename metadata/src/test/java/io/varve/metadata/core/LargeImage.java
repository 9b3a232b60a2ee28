package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.MetadataRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** The metadata of a large cluster, for measurements: 100,000 partitions with ten segments each, nine of them in object storage. */
public final class LargeImage {

    private static final int TOPICS = 1_000;
    private static final int PARTITIONS_PER_TOPIC = 100;
    private static final int SEGMENTS_PER_PARTITION = 10;

    private LargeImage() {}

    /** All of it. */
    public static MetadataImage make() {
        Cluster cluster = nodes();
        List<PartitionId> partitions = partitions(cluster);
        for (PartitionId partition : partitions) {
            cluster.rolled(partition, 0);
        }
        return withSegments(cluster.image(), partitions);
    }

    static Cluster nodes() {
        Cluster cluster = new Cluster();
        for (int id = 1; id <= 12; id++) {
            cluster.bookie(id, "rack" + id % 3, 1_000L + id);
        }
        for (int id = 1; id <= 6; id++) {
            cluster.broker(id);
        }
        return cluster;
    }

    static List<PartitionId> partitions(Cluster cluster) {
        List<PartitionId> partitions = new ArrayList<>();
        for (int i = 0; i < TOPICS; i++) {
            TopicId topic = cluster.topic("topic-" + i, PARTITIONS_PER_TOPIC, 3);
            for (int p = 0; p < PARTITIONS_PER_TOPIC; p++) {
                partitions.add(new PartitionId(topic, p));
            }
        }
        return partitions;
    }

    static MetadataImage withSegments(MetadataImage start, List<PartitionId> partitions) {
        MetadataImage image = start;
        long next = image.counters().nextSegment();
        for (PartitionId partition : partitions) {
            SegmentDescriptor open =
                    image.partition(partition).orElseThrow().chain().open().orElseThrow();
            List<MetadataRecord> records = new ArrayList<>();
            records.add(record(offloaded(open, 1_000, image.clusterId())));
            for (int i = 1; i < SEGMENTS_PER_PARTITION; i++) {
                SegmentDescriptor segment = new SegmentDescriptor(
                        new SegmentId(next++),
                        partition,
                        0,
                        SegmentDescriptor.State.OPEN,
                        i * 1_000L,
                        SegmentDescriptor.UNSEALED,
                        2,
                        open.replicas(),
                        List.of(),
                        -1,
                        -1,
                        Cluster.START_MS,
                        -1,
                        Optional.empty());
                records.add(record(segment));
                if (i < SEGMENTS_PER_PARTITION - 1) {
                    records.add(record(offloaded(segment, (i + 1) * 1_000L, image.clusterId())));
                }
            }
            image = image.replay(image.version() + 1, records);
        }
        return image;
    }

    private static SegmentDescriptor offloaded(SegmentDescriptor open, long endOffset, String clusterId) {
        SegmentDescriptor sealed = Segments.sealed(
                open, endOffset, List.<Replica>of(), List.of(), 1 << 20, Cluster.START_MS, Cluster.START_MS);
        String key = ObjectKeys.segment(
                clusterId, open.partition(), open.startOffset(), open.id().value());
        return Segments.offloaded(
                sealed,
                new ObjectRef(key, open.id().value(), 1 << 20, 7, open.startOffset(), endOffset, Cluster.START_MS));
    }

    private static MetadataRecord record(SegmentDescriptor segment) {
        return MetadataRecord.newBuilder()
                .setSegment(ProtoModel.toProto(segment))
                .build();
    }
}
