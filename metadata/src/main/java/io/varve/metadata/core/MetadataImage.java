package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.FailedWork;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.ConfigRecord;
import io.varve.protocol.meta.CountersRecord;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.PartitionRecord;
import io.varve.protocol.meta.RetryRecord;
import io.varve.protocol.meta.SegmentRemovedRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * All of the metadata as of one version. Immutable and persistent: a version shares with the one before all that did not change, so that keeping
 * one for a snapshot, a reader or a planner on another thread costs nothing. {@link #replay} is the only way from one to the next, on every node of
 * the service and in every client alike.
 *
 * <p>{@link #digest()} folds in every record since the cluster was formed. Two nodes that have the same version and different digests have
 * diverged.
 */
public final class MetadataImage implements MetadataView {

    /** Before anything happened. */
    public static final MetadataImage EMPTY = new MetadataImage(
            0,
            0,
            "",
            0,
            Counters.FIRST,
            NodeIndex.EMPTY,
            TopicIndex.EMPTY,
            PartitionIndex.EMPTY,
            SegmentIndex.EMPTY,
            TaskIndex.EMPTY,
            ConfigIndex.EMPTY);

    private final long version;
    private final long digest;
    private final String clusterId;
    private final int featureLevel;
    private final Counters counters;
    private final NodeIndex nodes;
    private final TopicIndex topics;
    private final PartitionIndex partitions;
    private final SegmentIndex segments;
    private final TaskIndex tasks;
    private final ConfigIndex configs;

    private MetadataImage(
            long version,
            long digest,
            String clusterId,
            int featureLevel,
            Counters counters,
            NodeIndex nodes,
            TopicIndex topics,
            PartitionIndex partitions,
            SegmentIndex segments,
            TaskIndex tasks,
            ConfigIndex configs) {
        this.version = version;
        this.digest = digest;
        this.clusterId = clusterId;
        this.featureLevel = featureLevel;
        this.counters = counters;
        this.nodes = nodes;
        this.topics = topics;
        this.partitions = partitions;
        this.segments = segments;
        this.tasks = tasks;
        this.configs = configs;
    }

    // ---- changes ----

    /**
     * The image after one record.
     *
     * @throws io.varve.base.InvariantViolation if the record can't follow this state
     */
    public MetadataImage replay(MetadataRecord record) {
        return switch (record.getChangeCase()) {
            case CLUSTER ->
                copy(record.getCluster().getClusterId(), record.getCluster().getFeatureLevel());
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
            case TASK -> {
                GivenTask given = ProtoModel.fromProto(record.getTask());
                yield with(tasks.with(given))
                        .with(counters.afterTask(given.task().taskId()));
            }
            case TASK_REMOVED -> with(tasks.without(record.getTaskRemoved().getId()));
            case DEAD_OBJECT ->
                with(tasks.withDeadObject(
                        record.getDeadObject().getKey(),
                        new Retry(
                                record.getDeadObject().getAttempts(),
                                record.getDeadObject().getNotBeforeMs(),
                                "")));
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
                                                record.getDeadStretch().getNotBeforeMs())))));
            case DEAD_STRETCH_REMOVED ->
                with(tasks.with(tasks.manifests()
                        .withoutDeadStretch(ProtoModel.fromProto(
                                record.getDeadStretchRemoved().getPartition()))));
            case CHANGE_NOT_SET -> this;
        };
    }

    /** The image after all of {@code records}, at {@code newVersion}. */
    public MetadataImage replay(long newVersion, List<MetadataRecord> records) {
        MetadataImage image = this;
        for (MetadataRecord record : records) {
            image = image.replay(record);
        }
        return image.at(newVersion, Digest.fold(digest, records));
    }

    /** The same state at a later version: nothing in between changed it. */
    MetadataImage at(long newVersion, long newDigest) {
        Invariant.check(newVersion >= version, "versions only rise", version, newVersion);
        return new MetadataImage(
                newVersion,
                newDigest,
                clusterId,
                featureLevel,
                counters,
                nodes,
                topics,
                partitions,
                segments,
                tasks,
                configs);
    }

    private MetadataImage withoutTopic(TopicId id) {
        PartitionIndex left = partitions;
        for (PartitionState partition : partitions.ofTopic(id).values()) {
            left = left.withCondemned(partition);
        }
        return with(topics.without(id)).with(left);
    }

    private MetadataImage withoutPartition(PartitionId id) {
        PartitionState partition = partitions.condemned().get(id);
        Invariant.check(
                partition == null
                        || partition.chain().size() == 0
                                && partition.chain().manifest().isEmpty(),
                "a partition goes when nothing of it is left");
        return with(partitions.withoutCondemned(id))
                .with(tasks.with(tasks.manifests().without(id)));
    }

    private MetadataImage with(PartitionRecord record) {
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
    private MetadataImage withoutMoved(SegmentChain before, SegmentChain after) {
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

    private MetadataImage with(RetryRecord record) {
        Retry retry = new Retry(record.getAttempts(), record.getNotBeforeMs(), record.getReason());
        return with(
                record.hasPartition()
                        ? tasks.with(tasks.manifests().with(ProtoModel.fromProto(record.getPartition()), retry))
                        : tasks.withRetry(new SegmentId(record.getSegment()), retry));
    }

    private MetadataImage with(SegmentDescriptor segment) {
        SegmentDescriptor old = find(segment.id());
        SegmentIndex index = segments.changed(old, segment);
        MetadataImage image =
                with(index).with(counters.afterSegment(segment.id().value()));
        return segment.state() == SegmentDescriptor.State.PENDING
                ? image
                : image.withChain(
                        segment.partition(),
                        chain -> isIn(chain, segment) ? chain.replace(segment) : chain.append(segment));
    }

    /** With a segment that appeared in the indexes, though in no chain yet. */
    MetadataImage indexed(SegmentDescriptor segment) {
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

    private MetadataImage without(SegmentRemovedRecord record) {
        SegmentDescriptor old = find(new SegmentId(record.getId()));
        Invariant.check(old != null, "a segment that is removed was there", record.getId());
        MetadataImage image = with(segments.changed(old, null)).with(tasks.withRetry(old.id(), new Retry(0, 0)));
        if (old.state() == SegmentDescriptor.State.PENDING) {
            return image;
        }
        return image.withChain(old.partition(), chain -> {
            boolean isFirst = chain.first().filter(s -> s.id().equals(old.id())).isPresent();
            Invariant.check(
                    isFirst || chain.last().filter(s -> s.id().equals(old.id())).isPresent(),
                    "I-8 segments leave a chain at its ends",
                    record.getId());
            return isFirst ? chain.withoutFirst() : chain.withoutEmptyLast();
        });
    }

    MetadataImage withChain(PartitionId id, UnaryOperator<SegmentChain> change) {
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

    private MetadataImage copy(String newClusterId, int newFeatureLevel) {
        return new MetadataImage(
                version,
                digest,
                newClusterId,
                newFeatureLevel,
                counters,
                nodes,
                topics,
                partitions,
                segments,
                tasks,
                configs);
    }

    private MetadataImage with(Counters changed) {
        return new MetadataImage(
                version, digest, clusterId, featureLevel, changed, nodes, topics, partitions, segments, tasks, configs);
    }

    private MetadataImage with(NodeIndex changed) {
        return new MetadataImage(
                version,
                digest,
                clusterId,
                featureLevel,
                counters,
                changed,
                topics,
                partitions,
                segments,
                tasks,
                configs);
    }

    private MetadataImage with(TopicIndex changed) {
        return new MetadataImage(
                version,
                digest,
                clusterId,
                featureLevel,
                counters,
                nodes,
                changed,
                partitions,
                segments,
                tasks,
                configs);
    }

    private MetadataImage with(PartitionIndex changed) {
        return new MetadataImage(
                version, digest, clusterId, featureLevel, counters, nodes, topics, changed, segments, tasks, configs);
    }

    private MetadataImage with(SegmentIndex changed) {
        return new MetadataImage(
                version, digest, clusterId, featureLevel, counters, nodes, topics, partitions, changed, tasks, configs);
    }

    private MetadataImage with(TaskIndex changed) {
        return new MetadataImage(
                version,
                digest,
                clusterId,
                featureLevel,
                counters,
                nodes,
                topics,
                partitions,
                segments,
                changed,
                configs);
    }

    private MetadataImage with(ConfigIndex changed) {
        return new MetadataImage(
                version,
                digest,
                clusterId,
                featureLevel,
                counters,
                nodes,
                topics,
                partitions,
                segments,
                tasks,
                changed);
    }

    // ---- for the core ----

    /** Everything since the cluster was formed, folded into one number. */
    public long digest() {
        return digest;
    }

    /** What the oldest node understands. */
    public int featureLevel() {
        return featureLevel;
    }

    /** How many partitions living topics have. */
    public int partitionCount() {
        return partitions.living().size();
    }

    /** How many segments stand in chains. */
    public int segmentCount() {
        return segments.places().size();
    }

    /** How many sealed segments are on bookies alone. */
    public int localOnlyCount() {
        return segments.localOnly().size();
    }

    /** How many tasks bookies have. */
    public int taskCount() {
        return tasks.byId().size();
    }

    Counters counters() {
        return counters;
    }

    NodeIndex nodeIndex() {
        return nodes;
    }

    TopicIndex topicIndex() {
        return topics;
    }

    PartitionIndex partitionIndex() {
        return partitions;
    }

    SegmentIndex segmentIndex() {
        return segments;
    }

    TaskIndex taskIndex() {
        return tasks;
    }

    ConfigIndex configIndex() {
        return configs;
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

    // ---- the view ----

    @Override
    public long version() {
        return version;
    }

    @Override
    public String clusterId() {
        return clusterId;
    }

    @Override
    public Collection<Topic> topics() {
        return topics.byId().values();
    }

    @Override
    public Optional<Topic> topic(TopicId id) {
        return Optional.ofNullable(topics.byId().get(id));
    }

    @Override
    public Optional<Topic> topic(String name) {
        return Optional.ofNullable(topics.byName().get(name)).flatMap(this::topic);
    }

    @Override
    public Optional<PartitionState> partition(PartitionId id) {
        return Optional.ofNullable(partitions.living().get(id));
    }

    @Override
    public Collection<PartitionState> partitions(TopicId topic) {
        return partitions.ofTopic(topic).values();
    }

    @Override
    public Collection<PartitionState> condemned() {
        return partitions.condemned().values();
    }

    @Override
    public Collection<PartitionId> ownedBy(int broker) {
        return partitions.ownedBy(broker);
    }

    @Override
    public Collection<BrokerInfo> brokers() {
        return nodes.brokers().values();
    }

    /** The broker of that id, if it ever registered. */
    public Optional<BrokerInfo> broker(int id) {
        return Optional.ofNullable(nodes.brokers().get(id));
    }

    @Override
    public Collection<BookieInfo> bookies() {
        return nodes.bookies().values();
    }

    @Override
    public Optional<BookieInfo> bookie(BookieId id) {
        return Optional.ofNullable(nodes.bookies().get(id));
    }

    @Override
    public Optional<SegmentDescriptor> segment(SegmentId id) {
        return Optional.ofNullable(find(id));
    }

    @Override
    public Collection<SegmentDescriptor> segmentsOn(BookieId bookie) {
        List<SegmentDescriptor> found = new ArrayList<>();
        forEachSegment(segment -> {
            if (holds(segment.replicas(), bookie) || holds(segment.unconfirmed(), bookie)) {
                found.add(segment);
            }
        });
        return Collections.unmodifiableList(found);
    }

    @Override
    public Collection<BookieTask> tasksOf(BookieId bookie) {
        List<BookieTask> found = new ArrayList<>();
        for (Long id : tasks.idsOf(bookie)) {
            found.add(tasks.byId().get(id).task());
        }
        return Collections.unmodifiableList(found);
    }

    @Override
    public Collection<BookieTask> tasks() {
        List<BookieTask> all = new ArrayList<>(tasks.byId().size());
        tasks.byId().values().forEach(given -> all.add(given.task()));
        return Collections.unmodifiableList(all);
    }

    @Override
    public Optional<FailedWork> failure(SegmentId segment) {
        return Optional.ofNullable(tasks.retries().get(segment))
                .map(retry -> new FailedWork(retry.attempts(), retry.notBeforeMs(), retry.reason()));
    }

    @Override
    public SortedMap<String, String> clusterConfigs() {
        return configs.cluster();
    }

    @Override
    public SortedMap<String, String> brokerConfigs(int broker) {
        return configs.of(broker);
    }

    /** Every segment that is described here, of condemned partitions too: a walk over all of them. */
    void forEachSegment(Consumer<SegmentDescriptor> visitor) {
        partitions.living().values().forEach(p -> p.chain().segments().forEach(visitor));
        partitions.condemned().values().forEach(p -> p.chain().segments().forEach(visitor));
        segments.pending().values().forEach(visitor);
    }

    private static boolean holds(List<Replica> replicas, BookieId bookie) {
        for (Replica replica : replicas) {
            if (replica.bookie().equals(bookie)) {
                return true;
            }
        }
        return false;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof MetadataImage that
                && version == that.version
                && digest == that.digest
                && clusterId.equals(that.clusterId)
                && featureLevel == that.featureLevel
                && counters.equals(that.counters)
                && nodes.equals(that.nodes)
                && topics.equals(that.topics)
                && partitions.equals(that.partitions)
                && segments.equals(that.segments)
                && tasks.equals(that.tasks)
                && configs.equals(that.configs);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(31 * version + digest);
    }

    @Override
    public String toString() {
        return "MetadataImage[version=" + version + ", topics=" + topics.byId().size() + ", partitions="
                + partitions.living().size() + ", segments=" + segments.places().size() + "]";
    }
}
