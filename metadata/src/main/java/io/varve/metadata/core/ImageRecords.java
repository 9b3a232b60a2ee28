package io.varve.metadata.core;

import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.ClusterRecord;
import io.varve.protocol.meta.ConfigRecord;
import io.varve.protocol.meta.CountersRecord;
import io.varve.protocol.meta.DeadStretchRecord;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PartitionRecord;
import io.varve.protocol.meta.RetryRecord;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The shortest list of records that leads from nothing to an image: what a snapshot holds, and what a client gets that is too far behind. There is no other form of the state to
 * keep in step with the records.
 */
public final class ImageRecords {

    private ImageRecords() {}

    /** All of them, made one by one, in the order in which they are to be replayed onto {@link MetadataImage#EMPTY}. */
    public static Stream<MetadataRecord> stream(MetadataImage image) {
        List<Function<MetadataImage, Stream<MetadataRecord.Builder>>> sections = List.of(
                ImageRecords::cluster,
                ImageRecords::configs,
                ImageRecords::nodes,
                ImageRecords::topics,
                ImageRecords::living,
                ImageRecords::condemned,
                ImageRecords::pending,
                ImageRecords::tasks,
                ImageRecords::retries,
                ImageRecords::counters);
        Stream<MetadataRecord.Builder> all = Stream.empty();
        for (Function<MetadataImage, Stream<MetadataRecord.Builder>> section : sections) {
            all = Stream.concat(all, section.apply(image));
        }
        return all.map(MetadataRecord.Builder::build);
    }

    private static Stream<MetadataRecord.Builder> cluster(MetadataImage image) {
        return image.clusterId().isEmpty()
                ? Stream.empty()
                : Stream.of(record().setCluster(ClusterRecord.newBuilder()
                        .setClusterId(image.clusterId())
                        .setFeatureLevel(image.featureLevel())));
    }

    private static Stream<MetadataRecord.Builder> configs(MetadataImage image) {
        Stream<ConfigRecord.Builder> ofCluster = image.clusterConfigs().entrySet().stream()
                .map(e -> ConfigRecord.newBuilder().setKey(e.getKey()).setValue(e.getValue()));
        Stream<ConfigRecord.Builder> ofBrokers = image.configIndex().brokers().entrySet().stream()
                .flatMap(broker -> broker.getValue().entrySet().stream()
                        .map(e -> ConfigRecord.newBuilder()
                                .setBroker(broker.getKey())
                                .setKey(e.getKey())
                                .setValue(e.getValue())));
        return Stream.concat(ofCluster, ofBrokers).map(config -> record().setConfig(config));
    }

    private static Stream<MetadataRecord.Builder> nodes(MetadataImage image) {
        return Stream.concat(
                image.brokers().stream().map(broker -> record().setBroker(ProtoModel.toProto(broker))),
                image.bookies().stream().map(bookie -> bookie(image, bookie)));
    }

    private static MetadataRecord.Builder bookie(MetadataImage image, BookieInfo bookie) {
        boolean drain = image.nodeIndex().drainWanted().contains(bookie.id());
        return record().setBookie(ProtoModel.toProto(bookie).toBuilder().setDrainWanted(drain));
    }

    private static Stream<MetadataRecord.Builder> topics(MetadataImage image) {
        return image.topics().stream().map(topic -> record().setTopic(ProtoModel.toProto(topic)));
    }

    private static Stream<MetadataRecord.Builder> living(MetadataImage image) {
        return image.partitionIndex().living().values().stream().flatMap(p -> partition(p, false));
    }

    private static Stream<MetadataRecord.Builder> condemned(MetadataImage image) {
        return image.partitionIndex().condemned().values().stream().flatMap(p -> partition(p, true));
    }

    /**
     * A partition and its segments. Of a condemned one, segments may be gone that came after the manifest: so it comes last there, for a chain begins where its manifest
     * ends (I-8).
     */
    private static Stream<MetadataRecord.Builder> partition(PartitionState partition, boolean condemned) {
        PartitionRecord.Builder proto = PartitionRecord.newBuilder()
                .setId(ProtoModel.toProto(partition.id()))
                .setOwner(partition.owner())
                .setEpoch(partition.epoch())
                .setLogStartOffset(partition.logStartOffset())
                .setCondemned(condemned);
        PartitionRecord.Builder described = proto.clone();
        partition.chain().manifest().ifPresent(m -> described.setManifest(ProtoModel.toProto(m)));
        Stream<MetadataRecord.Builder> segments =
                partition.chain().segments().stream().map(ImageRecords::segment);
        return condemned && described.hasManifest()
                ? Stream.concat(
                        Stream.concat(Stream.of(record().setPartition(proto)), segments),
                        Stream.of(record().setPartition(described)))
                : Stream.concat(Stream.of(record().setPartition(described)), segments);
    }

    private static Stream<MetadataRecord.Builder> pending(MetadataImage image) {
        return image.segmentIndex().pending().values().stream().map(ImageRecords::segment);
    }

    private static MetadataRecord.Builder segment(SegmentDescriptor segment) {
        return record().setSegment(ProtoModel.toProto(segment));
    }

    private static Stream<MetadataRecord.Builder> tasks(MetadataImage image) {
        return image.taskIndex().byId().values().stream().map(given -> record().setTask(ProtoModel.toProto(given)));
    }

    private static Stream<MetadataRecord.Builder> retries(MetadataImage image) {
        TaskIndex tasks = image.taskIndex();
        Stream<MetadataRecord.Builder> ofManifests = Stream.concat(
                tasks.manifests().deadStretches().entrySet().stream()
                        .map(dead -> record().setDeadStretch(DeadStretchRecord.newBuilder()
                                .setPartition(ProtoModel.toProto(dead.getKey()))
                                .setBelowOffset(dead.getValue().belowOffset())
                                .setNotBeforeMs(dead.getValue().when().notBeforeMs())
                                .setAttempts(dead.getValue().when().attempts())
                                .setReason(dead.getValue().when().reason()))),
                tasks.manifests().retries().entrySet().stream()
                        .map(retry -> record().setRetry(RetryRecord.newBuilder()
                                .setPartition(ProtoModel.toProto(retry.getKey()))
                                .setAttempts(retry.getValue().attempts())
                                .setNotBeforeMs(retry.getValue().notBeforeMs())
                                .setReason(retry.getValue().reason()))));
        Stream<MetadataRecord.Builder> ofObjectsAndSegments = Stream.concat(
                tasks.deadObjects().entrySet().stream()
                        .map(dead -> record().setDeadObject(ProtoModel.toProto(dead.getKey(), dead.getValue()))),
                tasks.retries().entrySet().stream()
                        .map(retry -> record().setRetry(RetryRecord.newBuilder()
                                .setSegment(retry.getKey().value())
                                .setAttempts(retry.getValue().attempts())
                                .setNotBeforeMs(retry.getValue().notBeforeMs())
                                .setReason(retry.getValue().reason()))));
        return Stream.concat(ofManifests, ofObjectsAndSegments);
    }

    private static Stream<MetadataRecord.Builder> counters(MetadataImage image) {
        Counters counters = image.counters();
        return Stream.of(record().setCounters(CountersRecord.newBuilder()
                .setNextSegment(counters.nextSegment())
                .setNextTask(counters.nextTask())
                .setNextProducerId(counters.nextProducerId())));
    }

    private static MetadataRecord.Builder record() {
        return MetadataRecord.newBuilder();
    }
}
