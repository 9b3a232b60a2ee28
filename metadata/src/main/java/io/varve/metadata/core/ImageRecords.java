package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.ClusterRecord;
import io.varve.protocol.meta.ConfigRecord;
import io.varve.protocol.meta.CountersRecord;
import io.varve.protocol.meta.DeadObjectRecord;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PartitionRecord;
import io.varve.protocol.meta.RetryRecord;
import java.util.Map;
import java.util.function.Consumer;

/**
 * The shortest list of records that leads from nothing to an image: what a snapshot holds, and what a client gets that is too far behind. There is no other form of the state to
 * keep in step with the records.
 */
public final class ImageRecords {

    private final Consumer<MetadataRecord> out;

    private ImageRecords(Consumer<MetadataRecord> out) {
        this.out = out;
    }

    /** Gives all of them to {@code out}, in the order in which they are to be replayed onto {@link MetadataImage#EMPTY}. */
    public static void write(MetadataImage image, Consumer<MetadataRecord> out) {
        ImageRecords records = new ImageRecords(out);
        records.cluster(image);
        records.nodes(image);
        records.topics(image);
        records.partitions(image);
        records.tasks(image.taskIndex());
        records.counters(image.counters());
    }

    /** The image that such records lead to, with the version and digest it had. */
    public static MetadataImage read(Iterable<MetadataRecord> records, long version, long digest) {
        MetadataImage image = MetadataImage.EMPTY;
        for (MetadataRecord record : records) {
            image = image.replay(record);
        }
        return image.at(version, digest);
    }

    private void cluster(MetadataImage image) {
        if (!image.clusterId().isEmpty()) {
            put(record().setCluster(ClusterRecord.newBuilder()
                    .setClusterId(image.clusterId())
                    .setFeatureLevel(image.featureLevel())));
        }
        image.clusterConfigs()
                .forEach((key, value) -> put(
                        record().setConfig(ConfigRecord.newBuilder().setKey(key).setValue(value))));
        image.configIndex()
                .brokers()
                .forEach((broker, configs) ->
                        configs.forEach((key, value) -> put(record().setConfig(ConfigRecord.newBuilder()
                                .setBroker(broker)
                                .setKey(key)
                                .setValue(value)))));
    }

    private void nodes(MetadataImage image) {
        for (BrokerInfo broker : image.brokers()) {
            put(record().setBroker(ProtoModel.toProto(broker)));
        }
        for (BookieInfo bookie : image.bookies()) {
            BookieId id = bookie.id();
            put(record().setBookie(ProtoModel.toProto(bookie).toBuilder()
                    .setDrainWanted(image.nodeIndex().drainWanted().contains(id))));
        }
    }

    private void topics(MetadataImage image) {
        for (Topic topic : image.topics()) {
            put(record().setTopic(ProtoModel.toProto(topic)));
        }
    }

    private void partitions(MetadataImage image) {
        image.partitionIndex().living().values().forEach(p -> partition(p, false));
        image.partitionIndex().condemned().values().forEach(p -> partition(p, true));
        image.segmentIndex().pending().values().forEach(this::segment);
    }

    private void partition(PartitionState partition, boolean condemned) {
        PartitionRecord.Builder proto = PartitionRecord.newBuilder()
                .setId(ProtoModel.toProto(partition.id()))
                .setOwner(partition.owner())
                .setEpoch(partition.epoch())
                .setLogStartOffset(partition.logStartOffset())
                .setCondemned(condemned);
        partition.chain().manifest().ifPresent(m -> proto.setManifest(ProtoModel.toProto(m)));
        put(record().setPartition(proto));
        partition.chain().segments().forEach(this::segment);
    }

    private void segment(SegmentDescriptor segment) {
        put(record().setSegment(ProtoModel.toProto(segment)));
    }

    private void tasks(TaskIndex tasks) {
        tasks.byId().values().forEach(given -> put(record().setTask(ProtoModel.toProto(given))));
        for (Map.Entry<String, Retry> dead : tasks.deadObjects().entrySet()) {
            put(record().setDeadObject(DeadObjectRecord.newBuilder()
                    .setKey(dead.getKey())
                    .setNotBeforeMs(dead.getValue().notBeforeMs())
                    .setAttempts(dead.getValue().attempts())));
        }
        tasks.retries()
                .forEach((segment, retry) -> put(record().setRetry(RetryRecord.newBuilder()
                        .setSegment(segment.value())
                        .setAttempts(retry.attempts())
                        .setNotBeforeMs(retry.notBeforeMs()))));
    }

    private void counters(Counters counters) {
        put(record().setCounters(CountersRecord.newBuilder()
                .setNextSegment(counters.nextSegment())
                .setNextTask(counters.nextTask())
                .setNextProducerId(counters.nextProducerId())));
    }

    private static MetadataRecord.Builder record() {
        return MetadataRecord.newBuilder();
    }

    private void put(MetadataRecord.Builder record) {
        out.accept(record.build());
    }
}
