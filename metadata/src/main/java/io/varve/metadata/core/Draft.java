package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.BookieProto;
import io.varve.protocol.meta.BookieRemovedRecord;
import io.varve.protocol.meta.ClusterRecord;
import io.varve.protocol.meta.ConfigRecord;
import io.varve.protocol.meta.CountersRecord;
import io.varve.protocol.meta.DeadObjectRemovedRecord;
import io.varve.protocol.meta.DeadStretchRecord;
import io.varve.protocol.meta.DeadStretchRemovedRecord;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PartitionRecord;
import io.varve.protocol.meta.PartitionRemovedRecord;
import io.varve.protocol.meta.RetryRecord;
import io.varve.protocol.meta.SegmentRemovedRecord;
import io.varve.protocol.meta.StretchReplacedRecord;
import io.varve.protocol.meta.TaskRemovedRecord;
import io.varve.protocol.meta.TopicRemovedRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;

/**
 * A decision in the making: the records so far, and the image that they lead to, so that what follows in the same command sees what came before. Thrown away if
 * the command is rejected. Used by one thread.
 */
final class Draft {

    private final List<MetadataRecord> records = new ArrayList<>();
    private final long nowMs;
    private final long seed;
    private MetadataImage image;

    Draft(MetadataImage image, long nowMs, long seed) {
        this.image = image;
        this.nowMs = nowMs;
        this.seed = seed;
    }

    MetadataImage image() {
        return image;
    }

    List<MetadataRecord> records() {
        return records;
    }

    long nowMs() {
        return nowMs;
    }

    long seed() {
        return seed;
    }

    private void add(MetadataRecord.Builder builder) {
        MetadataRecord record = builder.build();
        image = image.replay(record);
        records.add(record);
    }

    private static MetadataRecord.Builder record() {
        return MetadataRecord.newBuilder();
    }

    void cluster(String id, int featureLevel) {
        add(record().setCluster(ClusterRecord.newBuilder().setClusterId(id).setFeatureLevel(featureLevel)));
    }

    void put(BrokerInfo broker) {
        add(record().setBroker(ProtoModel.toProto(broker)));
    }

    void put(BookieInfo bookie, boolean drainWanted) {
        BookieProto proto = ProtoModel.toProto(bookie).toBuilder()
                .setDrainWanted(drainWanted)
                .build();
        add(record().setBookie(proto));
    }

    void remove(BookieId bookie) {
        add(record().setBookieRemoved(BookieRemovedRecord.newBuilder().setId(bookie.value())));
    }

    void put(Topic topic) {
        add(record().setTopic(ProtoModel.toProto(topic)));
    }

    void remove(Topic topic) {
        add(record().setTopicRemoved(TopicRemovedRecord.newBuilder().setId(ProtoModel.toProto(topic.id()))));
    }

    /** A new partition, or an old one with another owner, epoch or start; its segments stay as they are. */
    void putPartition(PartitionId id, int owner, int epoch, long logStartOffset) {
        PartitionState old = image.partitionIndex().find(id);
        PartitionRecord.Builder partition = PartitionRecord.newBuilder()
                .setId(ProtoModel.toProto(id))
                .setOwner(owner)
                .setEpoch(epoch)
                .setLogStartOffset(logStartOffset)
                .setCondemned(image.partitionIndex().condemned().containsKey(id));
        if (old != null) {
            old.chain().manifest().ifPresent(m -> partition.setManifest(ProtoModel.toProto(m)));
        }
        add(record().setPartition(partition));
        noteDeadStretch(id, objectsNotBeforeMs());
    }

    /** The partition with another manifest, or none; segments that the manifest describes leave the chain. */
    void putManifest(PartitionId id, Optional<ManifestRef> manifest) {
        PartitionState old = image.partitionIndex().find(id);
        PartitionRecord.Builder partition = PartitionRecord.newBuilder()
                .setId(ProtoModel.toProto(id))
                .setOwner(old.owner())
                .setEpoch(old.epoch())
                .setLogStartOffset(old.logStartOffset())
                .setCondemned(image.partitionIndex().condemned().containsKey(id));
        manifest.ifPresent(m -> partition.setManifest(ProtoModel.toProto(m)));
        add(record().setPartition(partition));
    }

    /** Notes what nobody may read any longer of what a partition's manifest describes, unless something is noted already; of a deleted topic that is all of it, whatever was noted before. */
    void noteDeadStretch(PartitionId id, long notBeforeMs) {
        PartitionState partition = image.partitionIndex().find(id);
        ManifestRef manifest = partition.chain().manifest().orElse(null);
        if (manifest == null) {
            return;
        }
        ManifestWork.DeadStretch noted =
                image.taskIndex().manifests().deadStretches().get(id);
        boolean isCondemned = image.partitionIndex().condemned().containsKey(id);
        long below = isCondemned ? BookieTask.PruneManifest.EVERYTHING : partition.logStartOffset();
        boolean isNoted = noted != null && (!isCondemned || noted.belowOffset() == below);
        if (!isNoted && manifest.isPrunableBelow(below)) {
            deadStretch(id, new ManifestWork.DeadStretch(below, new Retry(0, notBeforeMs)));
        }
    }

    void deadStretch(PartitionId id, ManifestWork.DeadStretch dead) {
        add(record().setDeadStretch(DeadStretchRecord.newBuilder()
                .setPartition(ProtoModel.toProto(id))
                .setBelowOffset(dead.belowOffset())
                .setNotBeforeMs(dead.when().notBeforeMs())
                .setAttempts(dead.when().attempts())
                .setReason(dead.when().reason())));
    }

    void forgetDeadStretch(PartitionId id) {
        if (image.taskIndex().manifests().deadStretches().containsKey(id)) {
            add(record().setDeadStretchRemoved(
                            DeadStretchRemovedRecord.newBuilder().setPartition(ProtoModel.toProto(id))));
        }
    }

    /** When what nothing names any longer may be deleted: readers may still be on it. */
    long objectsNotBeforeMs() {
        return nowMs + ClusterConfigSchema.objectGraceMs(image.clusterConfigs());
    }

    void removePartition(PartitionId id) {
        add(record().setPartitionRemoved(PartitionRemovedRecord.newBuilder().setId(ProtoModel.toProto(id))));
    }

    void put(SegmentDescriptor segment) {
        add(record().setSegment(ProtoModel.toProto(segment)));
    }

    /** Puts a sealed segment in the place of all those of its chain that lie between its start and its end. */
    void replaceStretch(SegmentDescriptor rewritten) {
        add(record().setStretchReplaced(StretchReplacedRecord.newBuilder().setSegment(ProtoModel.toProto(rewritten))));
    }

    void remove(SegmentDescriptor segment) {
        add(record().setSegmentRemoved(SegmentRemovedRecord.newBuilder()
                .setId(segment.id().value())
                .setPartition(ProtoModel.toProto(segment.partition()))));
    }

    /** Gives a task, under the next number. */
    BookieTask give(LongFunction<BookieTask> task) {
        BookieTask given = task.apply(image.counters().nextTask());
        add(record().setTask(ProtoModel.toProto(new GivenTask(given, nowMs))));
        return given;
    }

    void remove(BookieTask task) {
        add(record().setTaskRemoved(TaskRemovedRecord.newBuilder()
                .setId(task.taskId())
                .setBookie(task.bookie().value())));
    }

    /** Orders that a bookie's copy be deleted: the positive instruction of I-9. A bookie that was removed for good has nobody to order. */
    void deleteReplica(SegmentDescriptor segment, Replica replica) {
        if (image.bookie(replica.bookie()).isEmpty()) {
            return;
        }
        give(id -> new BookieTask.DeleteReplica(
                id, replica.bookie(), segment.partition(), segment.id(), replica.incarnation()));
    }

    /** Notes the intent to delete an object (I-11). */
    void deadObject(String key, Retry when) {
        deadObject(key, new DeadObject(when));
    }

    /** Notes the intent to delete an object (I-11), or changes it. */
    void deadObject(String key, DeadObject dead) {
        add(record().setDeadObject(ProtoModel.toProto(key, dead)));
    }

    void forgetObject(String key) {
        add(record().setDeadObjectRemoved(DeadObjectRemovedRecord.newBuilder().setKey(key)));
    }

    /** Takes an offload, a copy or work on a manifest back. What an upload may have left, or may yet leave until {@code objectNotBeforeMs}, is to be deleted. */
    void withdraw(BookieTask task, long objectNotBeforeMs) {
        Retry when = new Retry(0, objectNotBeforeMs);
        if (task instanceof BookieTask.Offload offload) {
            deadObject(attemptKey(offload), when);
        } else if (task instanceof BookieTask.BuildManifest build) {
            deadObject(ObjectKeys.manifestRoot(image.bucketId(), build.partition(), task.taskId()), when);
            for (int number = 0; number < BookieTask.BuildManifest.LEAVES_MAX; number++) {
                deadObject(ObjectKeys.manifestLeaf(image.bucketId(), build.partition(), task.taskId(), number), when);
            }
        } else if (task instanceof BookieTask.PruneManifest prune) {
            deadObject(ObjectKeys.manifestRoot(image.bucketId(), prune.partition(), task.taskId()), when);
        }
        remove(task);
    }

    /** The key of the object that an attempt makes. */
    String attemptKey(BookieTask.Offload offload) {
        SegmentDescriptor first = image.find(offload.segments().get(0));
        return ObjectKeys.segment(image.bucketId(), offload.partition(), first.startOffset(), offload.taskId());
    }

    void retryLater(SegmentId segment, String reason) {
        Retry before = image.taskIndex().retries().get(segment);
        Retry next = Retry.after(before == null ? 0 : before.attempts(), nowMs, reason);
        add(record().setRetry(RetryRecord.newBuilder()
                .setSegment(segment.value())
                .setAttempts(next.attempts())
                .setNotBeforeMs(next.notBeforeMs())
                .setReason(next.reason())));
    }

    /** No more building of a partition's manifest for a while. */
    void retryLater(PartitionId partition, String reason) {
        Retry before = image.taskIndex().manifests().retries().get(partition);
        putRetry(partition, Retry.after(before == null ? 0 : before.attempts(), nowMs, reason));
    }

    void forgetRetry(PartitionId partition) {
        if (image.taskIndex().manifests().retries().containsKey(partition)) {
            putRetry(partition, new Retry(0, 0));
        }
    }

    private void putRetry(PartitionId partition, Retry retry) {
        add(record().setRetry(RetryRecord.newBuilder()
                .setPartition(ProtoModel.toProto(partition))
                .setAttempts(retry.attempts())
                .setNotBeforeMs(retry.notBeforeMs())
                .setReason(retry.reason())));
    }

    void forgetRetry(SegmentId segment) {
        if (image.taskIndex().retries().containsKey(segment)) {
            add(record().setRetry(RetryRecord.newBuilder().setSegment(segment.value())));
        }
    }

    void producerIdsUpTo(long next) {
        add(record().setCounters(CountersRecord.newBuilder().setNextProducerId(next)));
    }

    void countersUpTo(long nextSegment, long nextTask, long nextProducerId) {
        add(record().setCounters(CountersRecord.newBuilder()
                .setNextSegment(nextSegment)
                .setNextTask(nextTask)
                .setNextProducerId(nextProducerId)));
    }

    void config(Optional<Integer> broker, String key, Optional<String> value) {
        ConfigRecord.Builder config = ConfigRecord.newBuilder().setKey(key);
        broker.ifPresent(config::setBroker);
        value.ifPresent(config::setValue);
        add(record().setConfig(config));
    }
}
