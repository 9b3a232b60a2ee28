package io.varve.metadata.api;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.Alarm;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.FailedWork;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * The cluster's metadata as of one version: immutable, safe for any thread, cheap to keep. What it says was true at {@link #version()};
 * whoever is about to do something that can't be undone asks {@link MetadataClient#linearizable()} for a fresh one first (I-17).
 */
public interface MetadataView {

    /** The index in the Raft log of the last change in it. */
    long version();

    /** The cluster's id, fixed when it was formed; empty before that. */
    String clusterId();

    /**
     * What the keys of the cluster's objects begin with: its id, or, of a cluster that was restored from a bucket, the id of the one that wrote there first.
     */
    default String bucketId() {
        return clusterConfigs().getOrDefault(ClusterConfigSchema.BUCKET_ID, clusterId());
    }

    /** All living topics. */
    Collection<Topic> topics();

    /** The living topic of that id. */
    Optional<Topic> topic(TopicId id);

    /** The living topic of that name. */
    Optional<Topic> topic(String name);

    /** The partition, if its topic lives and has so many. */
    Optional<PartitionState> partition(PartitionId id);

    /** The partitions of a topic by index; empty if it doesn't live. */
    Collection<PartitionState> partitions(TopicId topic);

    /** What deleted topics still hold: nobody reads it, and tasks clear it away. */
    Collection<PartitionState> condemned();

    /** The partitions that {@code broker} owns. */
    Collection<PartitionId> ownedBy(int broker);

    /** All registered brokers, the gone ones too. */
    Collection<BrokerInfo> brokers();

    /** All registered bookies, the gone ones too. */
    Collection<BookieInfo> bookies();

    /** The bookie of that id, if it ever registered and was not removed. */
    Optional<BookieInfo> bookie(BookieId id);

    /** A segment that is allocated, open or sealed and that Raft describes. */
    Optional<SegmentDescriptor> segment(SegmentId id);

    /** The newest segment that is allocated for a partition's owner under that epoch, and not opened. */
    Optional<SegmentDescriptor> pendingSegment(PartitionId partition, int epoch);

    /** The segments of which a bookie holds, or is to hold, a replica: PENDING, OPEN and SEALED. */
    Collection<SegmentDescriptor> segmentsOn(BookieId bookie);

    /** What a bookie has been given to do and has not yet reported. */
    Collection<BookieTask> tasksOf(BookieId bookie);

    /** All work given out and not yet reported. */
    Collection<BookieTask> tasks();

    /** The keys of objects that nothing names any longer, and that stay until what took the place of their content is in object storage (docs/adr/0091). */
    Collection<String> replacedObjects();

    /** What became of the last work on a segment, if it failed and nothing of it has succeeded since. */
    Optional<FailedWork> failure(SegmentId segment);

    /** What isn't as it should be in the bucket, as far as bookies' work ran into it; each for as long as it is true. A walk over all work that failed and isn't done. */
    List<Alarm> alarms();

    /** Cluster-wide dynamic configuration, by Kafka's names. */
    SortedMap<String, String> clusterConfigs();

    /** Dynamic configuration of one broker, by Kafka's names. */
    SortedMap<String, String> brokerConfigs(int broker);
}
