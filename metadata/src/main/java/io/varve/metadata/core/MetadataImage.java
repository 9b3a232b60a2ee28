package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Alarm;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.FailedWork;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.protocol.meta.MetadataRecord;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.function.Consumer;

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
    public static final MetadataImage EMPTY = new MetadataImage(0, 0, ImageState.EMPTY);

    private final long version;
    private final long digest;
    private final ImageState state;

    MetadataImage(long version, long digest, ImageState state) {
        this.version = version;
        this.digest = digest;
        this.state = state;
    }

    /**
     * The image after one record.
     *
     * @throws io.varve.base.InvariantViolation if the record can't follow this state
     */
    public MetadataImage replay(MetadataRecord record) {
        return new MetadataImage(version, digest, state.replay(record));
    }

    /** The image after all of {@code records}, at {@code newVersion}. */
    public MetadataImage replay(long newVersion, List<MetadataRecord> records) {
        ImageState after = state;
        for (MetadataRecord record : records) {
            after = after.replay(record);
        }
        return at(newVersion, Digest.fold(digest, records), after);
    }

    /** The same state at a later version: nothing in between changed it. */
    MetadataImage at(long newVersion, long newDigest) {
        return at(newVersion, newDigest, state);
    }

    private MetadataImage at(long newVersion, long newDigest, ImageState newState) {
        Invariant.check(newVersion >= version, "versions only rise", version, newVersion);
        return new MetadataImage(newVersion, newDigest, newState);
    }

    // ---- for the core ----

    /** Everything since the cluster was formed, folded into one number. */
    public long digest() {
        return digest;
    }

    /** What the oldest node understands. */
    public int featureLevel() {
        return state.featureLevel();
    }

    /** How many partitions living topics have. */
    public int partitionCount() {
        return state.partitions().living().size();
    }

    /** How many segments stand in chains. */
    public int segmentCount() {
        return state.segments().places().size();
    }

    /** How many sealed segments are on bookies alone. */
    public int localOnlyCount() {
        return state.segments().localOnly().size();
    }

    /** How many objects are to be deleted. */
    public int objectsToDelete() {
        return state.tasks().deadObjects().size();
    }

    /** How many tasks bookies have. */
    public int taskCount() {
        return state.tasks().byId().size();
    }

    Counters counters() {
        return state.counters();
    }

    NodeIndex nodeIndex() {
        return state.nodes();
    }

    TopicIndex topicIndex() {
        return state.topics();
    }

    PartitionIndex partitionIndex() {
        return state.partitions();
    }

    SegmentIndex segmentIndex() {
        return state.segments();
    }

    TaskIndex taskIndex() {
        return state.tasks();
    }

    ConfigIndex configIndex() {
        return state.configs();
    }

    /** The segment, of living and condemned partitions alike; null if there is none. */
    SegmentDescriptor find(SegmentId id) {
        return state.find(id);
    }

    // ---- the view ----

    @Override
    public long version() {
        return version;
    }

    @Override
    public String clusterId() {
        return state.clusterId();
    }

    @Override
    public Collection<Topic> topics() {
        return state.topics().byId().values();
    }

    @Override
    public Optional<Topic> topic(TopicId id) {
        return Optional.ofNullable(state.topics().byId().get(id));
    }

    @Override
    public Optional<Topic> topic(String name) {
        return Optional.ofNullable(state.topics().byName().get(name)).flatMap(this::topic);
    }

    @Override
    public Optional<PartitionState> partition(PartitionId id) {
        return Optional.ofNullable(state.partitions().living().get(id));
    }

    @Override
    public Collection<PartitionState> partitions(TopicId topic) {
        return state.partitions().ofTopic(topic).values();
    }

    @Override
    public Collection<PartitionState> condemned() {
        return state.partitions().condemned().values();
    }

    @Override
    public Collection<PartitionId> ownedBy(int broker) {
        return state.partitions().ownedBy(broker);
    }

    @Override
    public Collection<BrokerInfo> brokers() {
        return state.nodes().brokers().values();
    }

    /** The broker of that id, if it ever registered. */
    public Optional<BrokerInfo> broker(int id) {
        return Optional.ofNullable(state.nodes().brokers().get(id));
    }

    @Override
    public Collection<BookieInfo> bookies() {
        return state.nodes().bookies().values();
    }

    @Override
    public Optional<BookieInfo> bookie(BookieId id) {
        return Optional.ofNullable(state.nodes().bookies().get(id));
    }

    @Override
    public Optional<SegmentDescriptor> segment(SegmentId id) {
        return Optional.ofNullable(find(id));
    }

    @Override
    public Optional<SegmentDescriptor> pendingSegment(PartitionId partition, int epoch) {
        SegmentDescriptor newest = null;
        for (SegmentId id : segmentIndex().pendingOf(partition)) {
            SegmentDescriptor pending = find(id);
            newest = pending.epoch() == epoch && !pending.isRewrite() ? pending : newest;
        }
        return Optional.ofNullable(newest);
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
        for (Long id : state.tasks().idsOf(bookie)) {
            found.add(state.tasks().byId().get(id).task());
        }
        return Collections.unmodifiableList(found);
    }

    @Override
    public Collection<String> replacedObjects() {
        List<String> kept = new ArrayList<>();
        state.tasks().deadObjects().forEach((key, dead) -> {
            if (dead.isTheOnlyOneInTheBucket(this)) {
                kept.add(key);
            }
        });
        return Collections.unmodifiableList(kept);
    }

    @Override
    public Collection<BookieTask> tasks() {
        List<BookieTask> all = new ArrayList<>(state.tasks().byId().size());
        state.tasks().byId().values().forEach(given -> all.add(given.task()));
        return Collections.unmodifiableList(all);
    }

    @Override
    public Optional<FailedWork> failure(SegmentId segment) {
        return Optional.ofNullable(state.tasks().retries().get(segment))
                .map(retry -> new FailedWork(retry.attempts(), retry.notBeforeMs(), retry.reason()));
    }

    @Override
    public List<Alarm> alarms() {
        return Alarms.of(this);
    }

    @Override
    public SortedMap<String, String> clusterConfigs() {
        return state.configs().cluster();
    }

    @Override
    public SortedMap<String, String> brokerConfigs(int broker) {
        return state.configs().of(broker);
    }

    /** Every segment that is described here, of condemned partitions too: a walk over all of them. */
    void forEachSegment(Consumer<SegmentDescriptor> visitor) {
        state.partitions().living().values().forEach(p -> p.chain().segments().forEach(visitor));
        state.partitions()
                .condemned()
                .values()
                .forEach(p -> p.chain().segments().forEach(visitor));
        state.segments().pending().values().forEach(visitor);
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
                && state.equals(that.state);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(31 * version + digest);
    }

    @Override
    public String toString() {
        return "MetadataImage[version=" + version + ", topics="
                + state.topics().byId().size() + ", partitions="
                + state.partitions().living().size() + ", segments="
                + state.segments().places().size() + "]";
    }
}
