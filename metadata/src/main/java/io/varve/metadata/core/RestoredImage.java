package io.varve.metadata.core;

import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.ClusterRecord;
import io.varve.protocol.meta.ConfigRecord;
import io.varve.protocol.meta.CountersRecord;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PartitionRecord;
import java.util.Collection;
import java.util.TreeSet;

/**
 * The state with which a new cluster begins that takes over what an old one left in a bucket. Configuration, topics and the numbers given out are the old cluster's; its
 * nodes, their work and everything that was on their disks are not. It is another cluster, with an id of its own, so that whoever is left of the old one is
 * refused everywhere; but its objects' keys go on beginning with what the old one's began with.
 */
public final class RestoredImage {

    /** Numbers that the old cluster may have given out after its backup was taken are left out. */
    private static final long NUMBERS_LEFT_OUT = 1_000_000;

    private RestoredImage() {}

    /**
     * Builds it.
     *
     * @param backup what was last known; {@link MetadataImage#EMPTY} if nothing is
     * @param clusterId of the new cluster
     * @param bucketId what the keys of the objects begin with
     * @param topics all that are to be there
     * @param partitions one for each partition of each topic
     */
    public static MetadataImage of(
            MetadataImage backup,
            String clusterId,
            String bucketId,
            Collection<Topic> topics,
            Collection<RestoredPartition> partitions) {
        SnapshotReplay replay = new SnapshotReplay();
        replay.add(MetadataRecord.newBuilder()
                .setCluster(ClusterRecord.newBuilder()
                        .setClusterId(clusterId)
                        .setFeatureLevel(backup.featureLevel() == 0 ? FeatureLevels.LATEST : backup.featureLevel()))
                .build());
        ImageRecords.stream(backup).filter(MetadataRecord::hasConfig).forEach(replay::add);
        replay.add(MetadataRecord.newBuilder()
                .setConfig(ConfigRecord.newBuilder()
                        .setKey(ClusterConfigSchema.BUCKET_ID)
                        .setValue(bucketId))
                .build());
        topics.forEach(topic -> replay.add(
                MetadataRecord.newBuilder().setTopic(ProtoModel.toProto(topic)).build()));
        Counters counters = backup.counters();
        TreeSet<String> used = new TreeSet<>();
        for (RestoredPartition partition : partitions) {
            add(replay, partition);
            for (SegmentDescriptor segment : partition.segments()) {
                ObjectRef object = segment.object().orElseThrow();
                counters = counters.afterSegment(segment.id().value()).afterTask(object.attemptId());
                used.add(object.key());
            }
        }
        // What was to be deleted still is, unless it turned out to be the only copy of something.
        ImageRecords.stream(backup)
                .filter(record -> record.hasDeadObject()
                        && !used.contains(record.getDeadObject().getKey()))
                .forEach(replay::add);
        replay.add(MetadataRecord.newBuilder()
                .setCounters(CountersRecord.newBuilder()
                        .setNextSegment(counters.nextSegment() + NUMBERS_LEFT_OUT)
                        .setNextTask(counters.nextTask() + NUMBERS_LEFT_OUT)
                        .setNextProducerId(counters.nextProducerId() + NUMBERS_LEFT_OUT))
                .build());
        return replay.finish(Math.max(1, backup.version()), backup.digest());
    }

    private static void add(SnapshotReplay replay, RestoredPartition partition) {
        PartitionRecord.Builder record = PartitionRecord.newBuilder()
                .setId(ProtoModel.toProto(partition.id()))
                .setOwner(PartitionState.NO_OWNER)
                .setEpoch(partition.epoch())
                .setLogStartOffset(partition.logStartOffset());
        partition.manifest().ifPresent(manifest -> record.setManifest(ProtoModel.toProto(manifest)));
        replay.add(MetadataRecord.newBuilder().setPartition(record).build());
        for (SegmentDescriptor segment : partition.segments()) {
            replay.add(MetadataRecord.newBuilder()
                    .setSegment(ProtoModel.toProto(segment))
                    .build());
        }
    }
}
