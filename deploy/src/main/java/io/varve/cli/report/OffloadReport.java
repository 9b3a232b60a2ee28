package io.varve.cli.report;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.Alarm;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ClusterConfigSchema;
import io.varve.metadata.model.FailedWork;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.metadata.model.TopicConfigs;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What is sealed, belongs into object storage and is not there, and why; and what isn't in the bucket as it should be. Made of the metadata alone, so that it is right while the store is down.
 *
 * @param paused for the whole cluster
 * @param segments that wait
 * @param bytes theirs
 * @param oldestMs how long the oldest has been sealed
 * @param errors what failed last, by class
 * @param partitions those where something waits, the longest wait first
 * @param alarms what isn't in the bucket as it should be, for as long as it isn't
 */
public record OffloadReport(
        boolean paused,
        long segments,
        long bytes,
        long oldestMs,
        Map<String, ErrorRow> errors,
        List<PartitionRow> partitions,
        List<AlarmRow> alarms) {

    /**
     * @param segments whose last upload failed so
     * @param latest one of the reasons
     */
    public record ErrorRow(long segments, String latest) {}

    /**
     * @param oldestMs how long its oldest has been sealed
     * @param reason why that one is still local
     */
    public record PartitionRow(String topic, int partition, long segments, long bytes, long oldestMs, String reason) {}

    /**
     * @param kind in lower case, as the metric {@code varve_metadata_alarms} has it
     * @param partition {@code topic-0}; empty if only the key says whose it is
     * @param about an object's key
     * @param attempts how often in a row the work failed that ran into it
     */
    public record AlarmRow(String kind, String partition, String about, int attempts, String reason) {

        static AlarmRow of(Alarm alarm, MetadataView view) {
            return new AlarmRow(
                    alarm.kind().name().toLowerCase(Locale.ROOT),
                    alarm.partition().map(id -> name(id, view)).orElse(""),
                    alarm.about(),
                    alarm.attempts(),
                    alarm.reason());
        }

        private static String name(PartitionId id, MetadataView view) {
            return view.topic(id.topic()).map(Topic::name).orElse("deleted topic " + id.topic()) + "-" + id.index();
        }
    }

    /** The report on {@code view} at a time. */
    public static OffloadReport of(MetadataView view, long nowMs) {
        return new Maker(view, nowMs).make();
    }

    private static final class Maker {
        private final MetadataView view;
        private final long nowMs;
        private final boolean paused;
        private final Map<SegmentId, BookieTask> uploads = new TreeMap<>();
        private final Map<String, ErrorRow> errors = new TreeMap<>();
        private final List<PartitionRow> rows = new ArrayList<>();

        Maker(MetadataView view, long nowMs) {
            this.view = view;
            this.nowMs = nowMs;
            this.paused = ClusterConfigSchema.areUploadsPaused(view.clusterConfigs());
            for (BookieTask task : view.tasks()) {
                if (task instanceof BookieTask.Offload offload) {
                    offload.segments().forEach(segment -> uploads.put(segment, task));
                }
            }
        }

        OffloadReport make() {
            for (Topic topic : view.topics()) {
                TopicConfigs configs = TopicConfigs.of(topic, view.clusterConfigs());
                if (configs.tiered()) {
                    view.partitions(topic.id()).forEach(partition -> look(topic, configs, partition));
                }
            }
            rows.sort((a, b) -> Long.compare(b.oldestMs(), a.oldestMs()));
            return new OffloadReport(
                    paused,
                    rows.stream().mapToLong(PartitionRow::segments).sum(),
                    rows.stream().mapToLong(PartitionRow::bytes).sum(),
                    rows.isEmpty() ? 0 : rows.get(0).oldestMs(),
                    errors,
                    rows,
                    view.alarms().stream()
                            .map(alarm -> AlarmRow.of(alarm, view))
                            .toList());
        }

        private void look(Topic topic, TopicConfigs configs, PartitionState partition) {
            SegmentDescriptor oldest = null;
            long segments = 0;
            long bytes = 0;
            for (SegmentDescriptor segment : partition.chain().segments()) {
                boolean waits = segment.state() == SegmentDescriptor.State.SEALED
                        && !segment.isEmpty()
                        && !segment.isOffloaded();
                if (waits) {
                    oldest = oldest == null ? segment : oldest;
                    segments++;
                    bytes += Math.max(0, segment.bytes());
                    view.failure(segment.id())
                            .ifPresent(failed -> errors.merge(
                                    failed.errorClass(),
                                    new ErrorRow(1, failed.reason()),
                                    (a, b) -> new ErrorRow(a.segments() + 1, b.latest())));
                }
            }
            if (oldest != null) {
                rows.add(new PartitionRow(
                        topic.name(),
                        partition.id().index(),
                        segments,
                        bytes,
                        Math.max(0, nowMs - oldest.sealedMs()),
                        reason(configs, oldest)));
            }
        }

        private String reason(TopicConfigs configs, SegmentDescriptor segment) {
            BookieTask upload = uploads.get(segment.id());
            Optional<FailedWork> failed = view.failure(segment.id());
            if (upload != null) {
                return "is being uploaded by bookie " + upload.bookie()
                        + failed.map(f -> ", after " + f.attempts() + " failures: " + f.reason())
                                .orElse("");
            }
            if (paused) {
                return "uploads are paused for the cluster";
            }
            if (!configs.offloaded()) {
                return "uploads are paused for the topic";
            }
            if (failed.isPresent()) {
                return "failed " + failed.get().attempts() + " times, again in "
                        + Math.max(0, failed.get().notBeforeMs() - nowMs) / 1000 + " s: "
                        + failed.get().reason();
            }
            boolean isHeld = segment.replicas().stream()
                    .anyMatch(replica -> view.bookie(replica.bookie())
                            .filter(bookie -> bookie.state() != BookieInfo.State.GONE)
                            .isPresent());
            return isHeld ? "waits for its turn, or for more to go with it" : "no living bookie holds it";
        }
    }
}
