package io.varve.cli.report;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The state of a whole cluster.
 *
 * @param version the index in the metadata's log that it was taken at
 * @param metadataNodes the metadata service's own, by their own word
 * @param partitionsWithoutOwner that nobody serves now
 * @param segments as far as Raft describes them
 * @param segmentsUnderReplicated not in object storage, and short of copies on living bookies
 * @param bytesInObjects of entries that object storage holds, those that manifests describe too: as they are uncompressed
 * @param segmentsToOffload sealed, not empty, of a tiered topic, and not yet in object storage
 * @param bytesToOffload theirs
 * @param oldestToOffloadMs how long the oldest of them has been sealed
 * @param uploadsPaused for the whole cluster
 * @param offloadErrors what failed last, by class
 * @param alarms what isn't in the bucket as it should be, for as long as it isn't
 * @param tasks work given to bookies and not yet reported, by kind
 */
public record ClusterReport(
        String clusterId,
        long version,
        List<MetadataReport.NodeRow> metadataNodes,
        List<BrokerRow> brokers,
        List<BookieRow> bookies,
        int topics,
        int partitions,
        int partitionsWithoutOwner,
        long segments,
        long segmentsUnderReplicated,
        long bytesInObjects,
        long segmentsToOffload,
        long bytesToOffload,
        long oldestToOffloadMs,
        boolean uploadsPaused,
        Map<String, OffloadReport.ErrorRow> offloadErrors,
        List<OffloadReport.AlarmRow> alarms,
        Map<String, Integer> tasks) {

    /**
     * @param listeners as {@code name://host:port}
     * @param session the number of the process that is, or was last, registered under this id
     * @param partitions how many it owns
     */
    public record BrokerRow(
            int id, String state, String session, String rack, List<String> listeners, int partitions) {}

    /**
     * @param session the number of the process that is, or was last, registered under this id
     * @param goneSinceMs wall time at which its session ended, -1 while it lives
     * @param replicas how many segments have a copy on it
     * @param replicaBytes payload bytes of those that are sealed
     * @param tasks how much work it has been given
     */
    public record BookieRow(
            int id,
            String state,
            String session,
            long goneSinceMs,
            String rack,
            String address,
            long freeBytes,
            long totalBytes,
            int replicas,
            long replicaBytes,
            int tasks) {}

    /** The report on {@code view} at a time. */
    public static ClusterReport of(MetadataView view, List<MetadataReport.NodeRow> metadataNodes, long nowMs) {
        int partitions = 0;
        int withoutOwner = 0;
        long segments = 0;
        long underReplicated = 0;
        long inObjects = 0;
        for (Topic topic : view.topics()) {
            for (PartitionState partition : view.partitions(topic.id())) {
                partitions++;
                withoutOwner += partition.owner() == PartitionState.NO_OWNER ? 1 : 0;
                inObjects +=
                        partition.chain().manifest().map(ManifestRef::bytes).orElse(0L);
                for (SegmentDescriptor segment : partition.chain().segments()) {
                    segments++;
                    inObjects += segment.isOffloaded() ? Math.max(0, segment.bytes()) : 0;
                    underReplicated += SegmentHealth.isUnderReplicated(segment, topic, view) ? 1 : 0;
                }
            }
        }
        OffloadReport offload = OffloadReport.of(view, nowMs);
        return new ClusterReport(
                view.clusterId(),
                view.version(),
                List.copyOf(metadataNodes),
                view.brokers().stream().map(broker -> row(broker, view)).toList(),
                view.bookies().stream().map(bookie -> row(bookie, view)).toList(),
                view.topics().size(),
                partitions,
                withoutOwner,
                segments,
                underReplicated,
                inObjects,
                offload.segments(),
                offload.bytes(),
                offload.oldestMs(),
                offload.paused(),
                offload.errors(),
                offload.alarms(),
                tasks(view));
    }

    private static BrokerRow row(BrokerInfo broker, MetadataView view) {
        return new BrokerRow(
                broker.id(),
                broker.state().name(),
                Long.toHexString(broker.incarnation()),
                broker.rack(),
                broker.endpoints().stream()
                        .map(endpoint -> endpoint.listener() + "://" + endpoint.host() + ":" + endpoint.port())
                        .toList(),
                view.ownedBy(broker.id()).size());
    }

    private static BookieRow row(BookieInfo bookie, MetadataView view) {
        Collection<SegmentDescriptor> held = view.segmentsOn(bookie.id());
        long bytes = 0;
        for (SegmentDescriptor segment : held) {
            bytes += Math.max(0, segment.bytes());
        }
        return new BookieRow(
                bookie.id().value(),
                bookie.state().name(),
                Long.toHexString(bookie.sessionId()),
                bookie.goneSinceMs(),
                bookie.rack(),
                bookie.host() + ":" + bookie.port(),
                bookie.freeBytes(),
                bookie.totalBytes(),
                held.size(),
                bytes,
                view.tasksOf(bookie.id()).size());
    }

    private static Map<String, Integer> tasks(MetadataView view) {
        Map<String, Integer> byKind = new TreeMap<>();
        for (BookieTask task : view.tasks()) {
            byKind.merge(task.getClass().getSimpleName(), 1, Integer::sum);
        }
        return byKind;
    }
}
