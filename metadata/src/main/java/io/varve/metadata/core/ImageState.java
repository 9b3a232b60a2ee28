package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.meta.ConfigRecord;
import io.varve.protocol.meta.CountersRecord;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PartitionRecord;
import io.varve.protocol.meta.RetryRecord;
import io.varve.protocol.meta.SegmentRemovedRecord;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * What the metadata consist of, and what each record changes. Immutable and persistent, as every index in it is: a state shares with the one before all that did not change.
 *
 * @param featureLevel what the oldest node understands
 * @param counters the next numbers to give out
 * @param partitions those of living topics, and those condemned
 * @param segments where in the chains each stands, and those in none yet
 * @param tasks what bookies have been given to do, and what failed
 */
record ImageState(
        String clusterId,
        int featureLevel,
        Counters counters,
        NodeIndex nodes,
        TopicIndex topics,
        PartitionIndex partitions,
        SegmentIndex segments,
        TaskIndex tasks,
        ConfigIndex configs) {

    /** Before anything happened. */
    static final ImageState EMPTY = new ImageState(
            "",
            0,
            Counters.FIRST,
            NodeIndex.EMPTY,
            TopicIndex.EMPTY,
            PartitionIndex.EMPTY,
            SegmentIndex.EMPTY,
            TaskIndex.EMPTY,
            ConfigIndex.EMPTY);

    /**
     * The state after one record.
     *
     * @throws io.varve.base.InvariantViolation if the record can't follow this state
     */
    ImageState replay(MetadataRecord record) {
        return switch (record.getChangeCase()) {
            case CLUSTER ->
                with(record.getCluster().getClusterId(), record.getCluster().getFeatureLevel());
            case COUNTERS -> with(replayed(counters, record.getCounters()));
            case BROKER -> with(nodes.with(ProtoModel.fromProto(record.getBroker())));
            case BOOKIE ->
                with(nodes.with(
                        ProtoModel.fromProto(record.getBookie()),
                        record.getBookie().getDrainWanted()));
            case BOOKIE_REMOVED ->
                with(nodes.without(new BookieId(record.getBookieRemoved().getId())));
            case TOPIC -> with(topics.with(ProtoModel.fromProto(record.getTopic())));
            case TOPIC_REMOVED ->
                withoutTopic(ProtoModel.fromProto(record.getTopicRemoved().getId()));
            case PARTITION -> with(record.getPartition());
            case PARTITION_REMOVED ->
                withoutPartition(
                        ProtoModel.fromProto(record.getPartitionRemoved().getId()));
            case SEGMENT -> with(ProtoModel.fromProto(record.getSegment()));
            case SEGMENT_REMOVED -> without(record.getSegmentRemoved());
            case STRETCH_REPLACED ->
                replaced(ProtoModel.fromProto(record.getStretchReplaced().getSegment()));
            case TASK -> {
                GivenTask given = ProtoModel.fromProto(record.getTask());
                yield with(tasks.with(given))
                        .with(counters.afterTask(given.task().taskId()));
            }
            case TASK_REMOVED -> with(tasks.without(record.getTaskRemoved().getId()));
            case DEAD_OBJECT ->
                with(tasks.withDeadObject(
                        record.getDeadObject().getKey(), ProtoModel.fromProto(record.getDeadObject())));
            case DEAD_OBJECT_REMOVED ->
                with(tasks.withoutDeadObject(record.getDeadObjectRemoved().getKey()));
            case CONFIG -> with(replayed(configs, record.getConfig()));
            case RETRY -> with(record.getRetry());
            case DEAD_STRETCH ->
                with(tasks.with(tasks.manifests()
                        .with(
                                ProtoModel.fromProto(record.getDeadStretch().getPartition()),
                                new ManifestWork.DeadStretch(
                                        record.getDeadStretch().getBelowOffset(),
                                        new Retry(
                                                record.getDeadStretch().getAttempts(),
                                                record.getDeadStretch().getNotBeforeMs(),
                                                record.getDeadStretch().getReason())))));
            case DEAD_STRETCH_REMOVED ->
                with(tasks.with(tasks.manifests()
                        .withoutDeadStretch(ProtoModel.fromProto(
                                record.getDeadStretchRemoved().getPartition()))));
            case CHANGE_NOT_SET -> this;
        };
    }

    private ImageState withoutTopic(TopicId id) {
        PartitionIndex left = partitions;
        for (PartitionState partition : partitions.ofTopic(id).values()) {
            left = left.withCondemned(partition);
        }
        return with(topics.without(id)).with(left);
    }

    private ImageState withoutPartition(PartitionId id) {
        PartitionState partition = partitions.condemned().get(id);
        Invariant.check(
                partition == null
                        || partition.chain().size() == 0
                                && partition.chain().manifest().isEmpty(),
                "a partition goes when nothing of it is left");
        return with(partitions.withoutCondemned(id))
                .with(tasks.with(tasks.manifests().without(id)));
    }

    private ImageState with(PartitionRecord record) {
        PartitionId id = ProtoModel.fromProto(record.getId());
        PartitionState old = partitions.find(id);
        Invariant.check(
                old == null || record.getEpoch() >= old.epoch(),
                "epochs only rise",
                old == null ? 0 : old.epoch(),
                record.getEpoch());
        Invariant.check(
                old == null || record.getLogStartOffset() >= old.logStartOffset(),
                "the start of a log never moves back",
                record.getLogStartOffset());
        SegmentChain before = old == null ? SegmentChain.EMPTY : old.chain();
        SegmentChain chain = before.withManifest(
                record.hasManifest() ? Optional.of(ProtoModel.fromProto(record.getManifest())) : Optional.empty());
        PartitionState partition =
                new PartitionState(id, record.getOwner(), record.getEpoch(), record.getLogStartOffset(), chain);
        return withoutMoved(before, chain)
                .with(record.getCondemned() ? partitions.withCondemned(partition) : partitions.with(partition));
    }

    /** Without those segments in the indexes that left a chain for its manifest. */
    private ImageState withoutMoved(SegmentChain before, SegmentChain after) {
        if (before.size() == after.size()) {
            return this;
        }
        SegmentIndex index = segments;
        TaskIndex work = tasks;
        for (SegmentDescriptor segment : before.segments()) {
            if (after.at(segment.startOffset()) != null) {
                break;
            }
            index = index.changed(segment, null);
            work = work.withRetry(segment.id(), new Retry(0, 0));
        }
        return with(index).with(work);
    }

    private ImageState with(RetryRecord record) {
        Retry retry = new Retry(record.getAttempts(), record.getNotBeforeMs(), record.getReason());
        return with(
                record.hasPartition()
                        ? tasks.with(tasks.manifests().with(ProtoModel.fromProto(record.getPartition()), retry))
                        : tasks.withRetry(new SegmentId(record.getSegment()), retry));
    }

    private ImageState with(SegmentDescriptor segment) {
        SegmentDescriptor old = find(segment.id());
        SegmentIndex index = segments.changed(old, segment);
        ImageState state = with(index).with(counters.afterSegment(segment.id().value()));
        return segment.state() == SegmentDescriptor.State.PENDING
                ? state
                : state.withChain(
                        segment.partition(),
                        chain -> isIn(chain, segment) ? chain.replace(segment) : chain.append(segment));
    }

    /** With a rewrite in the place of what it was made of. */
    private ImageState replaced(SegmentDescriptor rewritten) {
        SegmentDescriptor pending = find(rewritten.id());
        Invariant.check(
                pending != null && pending.isRewrite(),
                "a rewrite was allocated",
                rewritten.id().value());
        SegmentIndex index = segments;
        TaskIndex work = tasks;
        SegmentChain before = chainOf(rewritten.partition());
        for (SegmentDescriptor input : before.stretch(rewritten.startOffset(), rewritten.endOffset())) {
            index = index.changed(input, null);
            work = work.withRetry(input.id(), new Retry(0, 0));
        }
        return with(index.changed(pending, rewritten))
                .with(work)
                .withChain(rewritten.partition(), chain -> chain.replaceStretch(rewritten));
    }

    /** With a segment that appeared in the indexes, though in no chain yet. */
    ImageState indexed(SegmentDescriptor segment) {
        return with(segments.changed(null, segment))
                .with(counters.afterSegment(segment.id().value()));
    }

    /** The chain of a partition that exists. */
    SegmentChain chainOf(PartitionId id) {
        PartitionState partition = partitions.find(id);
        Invariant.check(partition != null, "a segment's partition exists");
        return partition.chain();
    }

    private static boolean isIn(SegmentChain chain, SegmentDescriptor segment) {
        SegmentDescriptor there = chain.at(segment.startOffset());
        return there != null && there.id().equals(segment.id());
    }

    private ImageState without(SegmentRemovedRecord record) {
        SegmentDescriptor old = find(new SegmentId(record.getId()));
        Invariant.check(old != null, "a segment that is removed was there", record.getId());
        ImageState state = with(segments.changed(old, null)).with(tasks.withRetry(old.id(), new Retry(0, 0)));
        if (old.state() == SegmentDescriptor.State.PENDING) {
            return state;
        }
        return state.withChain(old.partition(), chain -> {
            boolean isFirst = chain.first().filter(s -> s.id().equals(old.id())).isPresent();
            Invariant.check(
                    isFirst || chain.last().filter(s -> s.id().equals(old.id())).isPresent(),
                    "I-8 segments leave a chain at its ends",
                    record.getId());
            return isFirst ? chain.withoutFirst() : chain.withoutEmptyLast();
        });
    }

    ImageState withChain(PartitionId id, UnaryOperator<SegmentChain> change) {
        PartitionState partition = partitions.find(id);
        Invariant.check(partition != null, "a segment's partition exists");
        return with(partitions.replaced(new PartitionState(
                id,
                partition.owner(),
                partition.epoch(),
                partition.logStartOffset(),
                change.apply(partition.chain()))));
    }

    private static Counters replayed(Counters old, CountersRecord record) {
        return new Counters(
                record.hasNextSegment() ? record.getNextSegment() : old.nextSegment(),
                record.hasNextTask() ? record.getNextTask() : old.nextTask(),
                record.hasNextProducerId() ? record.getNextProducerId() : old.nextProducerId());
    }

    private static ConfigIndex replayed(ConfigIndex old, ConfigRecord record) {
        Optional<String> value = record.hasValue() ? Optional.of(record.getValue()) : Optional.empty();
        return record.hasBroker()
                ? old.with(record.getBroker(), record.getKey(), value)
                : old.with(record.getKey(), value);
    }

    private ImageState with(String newClusterId, int newFeatureLevel) {
        return new ImageState(
                newClusterId, newFeatureLevel, counters, nodes, topics, partitions, segments, tasks, configs);
    }

    private ImageState with(Counters changed) {
        return new ImageState(clusterId, featureLevel, changed, nodes, topics, partitions, segments, tasks, configs);
    }

    private ImageState with(NodeIndex changed) {
        return new ImageState(clusterId, featureLevel, counters, changed, topics, partitions, segments, tasks, configs);
    }

    private ImageState with(TopicIndex changed) {
        return new ImageState(clusterId, featureLevel, counters, nodes, changed, partitions, segments, tasks, configs);
    }

    private ImageState with(PartitionIndex changed) {
        return new ImageState(clusterId, featureLevel, counters, nodes, topics, changed, segments, tasks, configs);
    }

    private ImageState with(SegmentIndex changed) {
        return new ImageState(clusterId, featureLevel, counters, nodes, topics, partitions, changed, tasks, configs);
    }

    private ImageState with(TaskIndex changed) {
        return new ImageState(clusterId, featureLevel, counters, nodes, topics, partitions, segments, changed, configs);
    }

    private ImageState with(ConfigIndex changed) {
        return new ImageState(clusterId, featureLevel, counters, nodes, topics, partitions, segments, tasks, changed);
    }

    /** The segment, of living and condemned partitions alike; null if there is none. */
    SegmentDescriptor find(SegmentId id) {
        SegmentDescriptor pending = segments.pending().get(id);
        if (pending != null) {
            return pending;
        }
        SegmentIndex.Place place = segments.places().get(id);
        if (place == null) {
            return null;
        }
        SegmentDescriptor found = partitions.find(place.partition()).chain().at(place.startOffset());
        Invariant.check(found != null && found.id().equals(id), "a segment stands where the index says", id.value());
        return found;
    }
}
