package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.BookieProto;
import io.varve.protocol.meta.BookieStateProto;
import io.varve.protocol.meta.BrokerProto;
import io.varve.protocol.meta.BrokerStateProto;
import io.varve.protocol.meta.BuildManifestWork;
import io.varve.protocol.meta.ConfigEntryProto;
import io.varve.protocol.meta.CopyReplicaWork;
import io.varve.protocol.meta.DeadObjectRecord;
import io.varve.protocol.meta.DeleteObjectWork;
import io.varve.protocol.meta.DeleteReplicaWork;
import io.varve.protocol.meta.EndpointProto;
import io.varve.protocol.meta.ManifestMarkProto;
import io.varve.protocol.meta.ManifestProto;
import io.varve.protocol.meta.ObjectProto;
import io.varve.protocol.meta.OffloadWork;
import io.varve.protocol.meta.PartitionIdProto;
import io.varve.protocol.meta.PruneManifestWork;
import io.varve.protocol.meta.ReplicaProto;
import io.varve.protocol.meta.SegmentProto;
import io.varve.protocol.meta.SegmentStateProto;
import io.varve.protocol.meta.TaskProto;
import io.varve.protocol.meta.TopicIdProto;
import io.varve.protocol.meta.TopicProto;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;

/** The model's values to and from the form in which they are logged, kept and sent. */
public final class ProtoModel {

    private ProtoModel() {}

    /** A topic's identity. */
    public static TopicIdProto toProto(TopicId id) {
        return TopicIdProto.newBuilder().setHigh(id.high()).setLow(id.low()).build();
    }

    /** A topic's identity. */
    public static TopicId fromProto(TopicIdProto id) {
        return new TopicId(id.getHigh(), id.getLow());
    }

    /** A partition's identity. */
    public static PartitionIdProto toProto(PartitionId id) {
        return PartitionIdProto.newBuilder()
                .setTopic(toProto(id.topic()))
                .setIndex(id.index())
                .build();
    }

    /** A partition's identity. */
    public static PartitionId fromProto(PartitionIdProto id) {
        return new PartitionId(fromProto(id.getTopic()), id.getIndex());
    }

    /** A broker. */
    public static BrokerProto toProto(BrokerInfo broker) {
        BrokerProto.Builder proto = BrokerProto.newBuilder()
                .setId(broker.id())
                .setIncarnation(broker.incarnation())
                .setRack(broker.rack())
                .setState(toProto(broker.state()));
        for (BrokerInfo.Endpoint endpoint : broker.endpoints()) {
            proto.addEndpoints(EndpointProto.newBuilder()
                    .setListener(endpoint.listener())
                    .setSecurityProtocol(endpoint.securityProtocol())
                    .setHost(endpoint.host())
                    .setPort(endpoint.port()));
        }
        return proto.build();
    }

    /** A broker. */
    public static BrokerInfo fromProto(BrokerProto broker) {
        return new BrokerInfo(
                broker.getId(),
                broker.getIncarnation(),
                broker.getRack(),
                mapped(
                        broker.getEndpointsList(),
                        e -> new BrokerInfo.Endpoint(
                                e.getListener(), e.getSecurityProtocol(), e.getHost(), e.getPort())),
                fromProto(broker.getState()));
    }

    /** What a broker can be used for. */
    public static BrokerStateProto toProto(BrokerInfo.State state) {
        return switch (state) {
            case LIVE -> BrokerStateProto.BROKER_LIVE;
            case DRAINING -> BrokerStateProto.BROKER_DRAINING;
            case GONE -> BrokerStateProto.BROKER_GONE;
        };
    }

    /** What a broker can be used for. A state of a later version is one that takes nothing new. */
    public static BrokerInfo.State fromProto(BrokerStateProto state) {
        return switch (state) {
            case BROKER_LIVE -> BrokerInfo.State.LIVE;
            case BROKER_DRAINING, UNRECOGNIZED -> BrokerInfo.State.DRAINING;
            case BROKER_GONE -> BrokerInfo.State.GONE;
        };
    }

    /** A bookie, without what the service alone knows of it. */
    public static BookieProto toProto(BookieInfo bookie) {
        return BookieProto.newBuilder()
                .setId(bookie.id().value())
                .setSessionId(bookie.sessionId())
                .addAllIncarnations(bookie.incarnations())
                .setRack(bookie.rack())
                .setHost(bookie.host())
                .setPort(bookie.port())
                .setState(toProto(bookie.state()))
                .setFreeBytes(bookie.freeBytes())
                .setTotalBytes(bookie.totalBytes())
                .setGoneSinceMs(bookie.goneSinceMs())
                .build();
    }

    /** A bookie. */
    public static BookieInfo fromProto(BookieProto bookie) {
        return new BookieInfo(
                new BookieId(bookie.getId()),
                bookie.getSessionId(),
                bookie.getIncarnationsList(),
                bookie.getRack(),
                bookie.getHost(),
                bookie.getPort(),
                fromProto(bookie.getState()),
                bookie.getFreeBytes(),
                bookie.getTotalBytes(),
                bookie.getGoneSinceMs());
    }

    /** What a bookie can be used for. */
    public static BookieStateProto toProto(BookieInfo.State state) {
        return switch (state) {
            case WRITABLE -> BookieStateProto.BOOKIE_WRITABLE;
            case SLOW -> BookieStateProto.BOOKIE_SLOW;
            case READ_ONLY -> BookieStateProto.BOOKIE_READ_ONLY;
            case DRAINING -> BookieStateProto.BOOKIE_DRAINING;
            case GONE -> BookieStateProto.BOOKIE_GONE;
        };
    }

    /** What a bookie can be used for. A state of a later version is one that takes nothing new. */
    public static BookieInfo.State fromProto(BookieStateProto state) {
        return switch (state) {
            case BOOKIE_WRITABLE -> BookieInfo.State.WRITABLE;
            case BOOKIE_SLOW -> BookieInfo.State.SLOW;
            case BOOKIE_READ_ONLY, UNRECOGNIZED -> BookieInfo.State.READ_ONLY;
            case BOOKIE_DRAINING -> BookieInfo.State.DRAINING;
            case BOOKIE_GONE -> BookieInfo.State.GONE;
        };
    }

    /** A topic. */
    public static TopicProto toProto(Topic topic) {
        TopicProto.Builder proto = TopicProto.newBuilder()
                .setId(toProto(topic.id()))
                .setName(topic.name())
                .setPartitions(topic.partitions())
                .setReplicas(topic.replicas())
                .setAcks(topic.acks());
        topic.configs()
                .forEach((key, value) -> proto.addConfigs(
                        ConfigEntryProto.newBuilder().setKey(key).setValue(value)));
        return proto.build();
    }

    /** A topic. */
    public static Topic fromProto(TopicProto topic) {
        return new Topic(
                fromProto(topic.getId()),
                topic.getName(),
                topic.getPartitions(),
                topic.getReplicas(),
                topic.getAcks(),
                configs(topic.getConfigsList()));
    }

    /** Configuration by key. */
    public static SortedMap<String, String> configs(List<ConfigEntryProto> entries) {
        SortedMap<String, String> configs = new TreeMap<>();
        for (ConfigEntryProto entry : entries) {
            configs.put(entry.getKey(), entry.getValue());
        }
        return configs;
    }

    /** A place of a copy. */
    public static ReplicaProto toProto(Replica replica) {
        return ReplicaProto.newBuilder()
                .setBookie(replica.bookie().value())
                .setIncarnation(replica.incarnation())
                .build();
    }

    /** A place of a copy. */
    public static Replica fromProto(ReplicaProto replica) {
        return new Replica(new BookieId(replica.getBookie()), replica.getIncarnation());
    }

    /** An object. */
    public static ObjectProto toProto(ObjectRef object) {
        return ObjectProto.newBuilder()
                .setKey(object.key())
                .setAttemptId(object.attemptId())
                .setLength(object.length())
                .setCrc32C(object.crc32c())
                .setStartOffset(object.startOffset())
                .setEndOffset(object.endOffset())
                .setMaxTimestampMs(object.maxTimestampMs())
                .build();
    }

    /** An object. */
    public static ObjectRef fromProto(ObjectProto object) {
        return new ObjectRef(
                object.getKey(),
                object.getAttemptId(),
                object.getLength(),
                object.getCrc32C(),
                object.getStartOffset(),
                object.getEndOffset(),
                object.getMaxTimestampMs());
    }

    /** A stretch of a chain that lives in the bucket. */
    public static ManifestProto toProto(ManifestRef manifest) {
        return ManifestProto.newBuilder()
                .setKey(manifest.key())
                .setGeneration(manifest.generation())
                .setStartOffset(manifest.startOffset())
                .setEndOffset(manifest.endOffset())
                .setSegments(manifest.segments())
                .setBytes(manifest.bytes())
                .setMaxTimestampMs(manifest.maxTimestampMs())
                .setLength(manifest.length())
                .setCrc32C(manifest.crc32c())
                .addAllMarks(mapped(manifest.marks(), ProtoModel::toProto))
                .build();
    }

    private static ManifestMarkProto toProto(ManifestRef.Mark mark) {
        return ManifestMarkProto.newBuilder()
                .setOffset(mark.offset())
                .setBytesBelow(mark.bytesBelow())
                .setAgeStampMs(mark.ageStampMs())
                .build();
    }

    /** A stretch of a chain that lives in the bucket. */
    public static ManifestRef fromProto(ManifestProto manifest) {
        return new ManifestRef(
                manifest.getKey(),
                manifest.getGeneration(),
                manifest.getStartOffset(),
                manifest.getEndOffset(),
                manifest.getSegments(),
                manifest.getBytes(),
                manifest.getMaxTimestampMs(),
                manifest.getLength(),
                manifest.getCrc32C(),
                mapped(
                        manifest.getMarksList(),
                        mark -> new ManifestRef.Mark(mark.getOffset(), mark.getBytesBelow(), mark.getAgeStampMs())));
    }

    /** A segment. */
    public static SegmentProto toProto(SegmentDescriptor segment) {
        SegmentProto.Builder proto = SegmentProto.newBuilder()
                .setId(segment.id().value())
                .setPartition(toProto(segment.partition()))
                .setEpoch(segment.epoch())
                .setState(toProto(segment.state()))
                .setStartOffset(segment.startOffset())
                .setEndOffset(segment.endOffset())
                .setAcks(segment.acks())
                .setBytes(segment.bytes())
                .setMaxTimestampMs(segment.maxTimestampMs())
                .setCreatedMs(segment.createdMs())
                .setSealedMs(segment.sealedMs())
                .setCompacted(segment.isCompacted());
        if (segment.isCompacted() && segment.compactedEnd() != segment.endOffset()) {
            proto.setCompactedEnd(segment.compactedEnd());
        }
        segment.replicas().forEach(r -> proto.addReplicas(toProto(r)));
        segment.unconfirmed().forEach(r -> proto.addUnconfirmed(toProto(r)));
        segment.object().ifPresent(o -> proto.setObject(toProto(o)));
        return proto.build();
    }

    /** A segment. */
    public static SegmentDescriptor fromProto(SegmentProto segment) {
        return new SegmentDescriptor(
                new SegmentId(segment.getId()),
                fromProto(segment.getPartition()),
                segment.getEpoch(),
                fromProto(segment.getState()),
                segment.getStartOffset(),
                segment.getEndOffset(),
                segment.getAcks(),
                mapped(segment.getReplicasList(), ProtoModel::fromProto),
                mapped(segment.getUnconfirmedList(), ProtoModel::fromProto),
                segment.getBytes(),
                segment.getMaxTimestampMs(),
                segment.getCreatedMs(),
                segment.getSealedMs(),
                segment.hasObject() ? Optional.of(fromProto(segment.getObject())) : Optional.empty(),
                compactedEnd(segment));
    }

    private static long compactedEnd(SegmentProto segment) {
        if (!segment.getCompacted()) {
            return SegmentDescriptor.NEVER_COMPACTED;
        }
        return segment.getCompactedEnd() == 0 ? segment.getEndOffset() : segment.getCompactedEnd();
    }

    private static SegmentStateProto toProto(SegmentDescriptor.State state) {
        return switch (state) {
            case PENDING -> SegmentStateProto.SEGMENT_PENDING;
            case OPEN -> SegmentStateProto.SEGMENT_OPEN;
            case SEALED -> SegmentStateProto.SEGMENT_SEALED;
        };
    }

    private static SegmentDescriptor.State fromProto(SegmentStateProto state) {
        return switch (state) {
            case SEGMENT_PENDING -> SegmentDescriptor.State.PENDING;
            case SEGMENT_OPEN -> SegmentDescriptor.State.OPEN;
            case SEGMENT_SEALED -> SegmentDescriptor.State.SEALED;
            case UNRECOGNIZED -> throw new IllegalArgumentException("A segment in a state of a later version");
        };
    }

    static DeadObjectRecord toProto(String key, DeadObject dead) {
        DeadObjectRecord.Builder proto = DeadObjectRecord.newBuilder()
                .setKey(key)
                .setNotBeforeMs(dead.when().notBeforeMs())
                .setAttempts(dead.when().attempts())
                .setReason(dead.when().reason());
        dead.held()
                .ifPresent(held -> proto.setPartition(toProto(held.partition()))
                        .setStartOffset(held.startOffset())
                        .setEndOffset(held.endOffset()));
        return proto.build();
    }

    static DeadObject fromProto(DeadObjectRecord proto) {
        Optional<DeadObject.Held> held = proto.hasPartition()
                ? Optional.of(new DeadObject.Held(
                        fromProto(proto.getPartition()), proto.getStartOffset(), proto.getEndOffset()))
                : Optional.empty();
        return new DeadObject(new Retry(proto.getAttempts(), proto.getNotBeforeMs(), proto.getReason()), held);
    }

    /** A task and when it was given. */
    public static TaskProto toProto(GivenTask given) {
        BookieTask task = given.task();
        TaskProto.Builder proto = TaskProto.newBuilder()
                .setId(task.taskId())
                .setBookie(task.bookie().value())
                .setGivenMs(given.givenMs());
        if (task instanceof BookieTask.Offload offload) {
            OffloadWork.Builder work = OffloadWork.newBuilder().setPartition(toProto(offload.partition()));
            offload.segments().forEach(s -> work.addSegments(s.value()));
            proto.setOffload(work);
        } else if (task instanceof BookieTask.DeleteReplica delete) {
            proto.setDeleteReplica(DeleteReplicaWork.newBuilder()
                    .setPartition(toProto(delete.partition()))
                    .setSegment(delete.segment().value())
                    .setIncarnation(delete.incarnation()));
        } else if (task instanceof BookieTask.CopyReplica copy) {
            CopyReplicaWork.Builder work = CopyReplicaWork.newBuilder()
                    .setPartition(toProto(copy.partition()))
                    .setSegment(copy.segment().value())
                    .setIncarnation(copy.incarnation());
            copy.sources().forEach(r -> work.addSources(toProto(r)));
            proto.setCopyReplica(work);
        } else if (task instanceof BookieTask.DeleteObject delete) {
            proto.setDeleteObject(DeleteObjectWork.newBuilder().setKey(delete.key()));
        } else if (task instanceof BookieTask.BuildManifest build) {
            BuildManifestWork.Builder work = BuildManifestWork.newBuilder()
                    .setPartition(toProto(build.partition()))
                    .setStartOffset(build.startOffset())
                    .setEndOffset(build.endOffset());
            build.before().ifPresent(before -> work.setBefore(toProto(before)));
            proto.setBuildManifest(work);
        } else if (task instanceof BookieTask.PruneManifest prune) {
            proto.setPruneManifest(PruneManifestWork.newBuilder()
                    .setPartition(toProto(prune.partition()))
                    .setManifest(toProto(prune.manifest()))
                    .setBelowOffset(prune.belowOffset()));
        }
        return proto.build();
    }

    /** A task and when it was given. */
    public static GivenTask fromProto(TaskProto task) {
        BookieId bookie = new BookieId(task.getBookie());
        BookieTask work = switch (task.getWorkCase()) {
            case OFFLOAD ->
                new BookieTask.Offload(
                        task.getId(),
                        bookie,
                        fromProto(task.getOffload().getPartition()),
                        mapped(task.getOffload().getSegmentsList(), SegmentId::new));
            case DELETE_REPLICA ->
                new BookieTask.DeleteReplica(
                        task.getId(),
                        bookie,
                        fromProto(task.getDeleteReplica().getPartition()),
                        new SegmentId(task.getDeleteReplica().getSegment()),
                        task.getDeleteReplica().getIncarnation());
            case COPY_REPLICA ->
                new BookieTask.CopyReplica(
                        task.getId(),
                        bookie,
                        fromProto(task.getCopyReplica().getPartition()),
                        new SegmentId(task.getCopyReplica().getSegment()),
                        task.getCopyReplica().getIncarnation(),
                        mapped(task.getCopyReplica().getSourcesList(), ProtoModel::fromProto));
            case DELETE_OBJECT ->
                new BookieTask.DeleteObject(
                        task.getId(), bookie, task.getDeleteObject().getKey());
            case BUILD_MANIFEST ->
                new BookieTask.BuildManifest(
                        task.getId(),
                        bookie,
                        fromProto(task.getBuildManifest().getPartition()),
                        task.getBuildManifest().hasBefore()
                                ? Optional.of(fromProto(task.getBuildManifest().getBefore()))
                                : Optional.empty(),
                        task.getBuildManifest().getStartOffset(),
                        task.getBuildManifest().getEndOffset());
            case PRUNE_MANIFEST ->
                new BookieTask.PruneManifest(
                        task.getId(),
                        bookie,
                        fromProto(task.getPruneManifest().getPartition()),
                        fromProto(task.getPruneManifest().getManifest()),
                        task.getPruneManifest().getBelowOffset());
            case WORK_NOT_SET -> throw new IllegalArgumentException("A task of a later version");
        };
        return new GivenTask(work, task.getGivenMs());
    }

    private static <A, B> List<B> mapped(List<A> from, Function<A, B> map) {
        List<B> to = new ArrayList<>(from.size());
        for (A each : from) {
            to.add(map.apply(each));
        }
        return to;
    }
}
