package io.varve.metadata.core;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.PartitionState;
import io.varve.protocol.meta.MetadataRecord;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/** What records touch, for those who want to look at nothing else. */
public final class Deltas {

    private final SortedSet<TopicId> topics = new TreeSet<>();
    private final SortedSet<PartitionId> partitions = new TreeSet<>();
    private final SortedSet<Integer> brokers = new TreeSet<>();
    private final SortedSet<BookieId> bookies = new TreeSet<>();
    private final SortedSet<BookieId> tasksOf = new TreeSet<>();
    private boolean configs;

    private Deltas() {}

    /** What {@code records} may have changed from {@code before} on. */
    public static MetadataDelta of(MetadataImage before, List<MetadataRecord> records) {
        Deltas deltas = new Deltas();
        for (MetadataRecord record : records) {
            deltas.add(before, record);
        }
        return deltas.build(false);
    }

    /** Everything that is in either of two versions. */
    public static MetadataDelta everything(MetadataView before, MetadataView after) {
        Deltas deltas = new Deltas();
        for (MetadataView view : List.of(before, after)) {
            view.topics().forEach(topic -> {
                deltas.topics.add(topic.id());
                deltas.partitionsOf(view, topic.id());
            });
            view.brokers().forEach(b -> deltas.brokers.add(b.id()));
            view.bookies().forEach(b -> deltas.bookies.add(b.id()));
            view.tasks().forEach(t -> deltas.tasksOf.add(t.bookie()));
        }
        deltas.configs = true;
        return deltas.build(true);
    }

    private void add(MetadataImage before, MetadataRecord record) {
        switch (record.getChangeCase()) {
            case CLUSTER, CONFIG -> configs = true;
            case BROKER -> brokers.add(record.getBroker().getId());
            case BOOKIE -> bookies.add(new BookieId(record.getBookie().getId()));
            case BOOKIE_REMOVED ->
                bookies.add(new BookieId(record.getBookieRemoved().getId()));
            case TOPIC -> topics.add(ProtoModel.fromProto(record.getTopic().getId()));
            case TOPIC_REMOVED -> {
                TopicId id = ProtoModel.fromProto(record.getTopicRemoved().getId());
                topics.add(id);
                partitionsOf(before, id);
            }
            case PARTITION ->
                partitions.add(ProtoModel.fromProto(record.getPartition().getId()));
            case PARTITION_REMOVED ->
                partitions.add(ProtoModel.fromProto(record.getPartitionRemoved().getId()));
            case SEGMENT ->
                partitions.add(ProtoModel.fromProto(record.getSegment().getPartition()));
            case SEGMENT_REMOVED ->
                partitions.add(ProtoModel.fromProto(record.getSegmentRemoved().getPartition()));
            case STRETCH_REPLACED ->
                partitions.add(ProtoModel.fromProto(
                        record.getStretchReplaced().getSegment().getPartition()));
            case TASK -> tasksOf.add(new BookieId(record.getTask().getBookie()));
            case TASK_REMOVED ->
                tasksOf.add(new BookieId(record.getTaskRemoved().getBookie()));
            case COUNTERS,
                    DEAD_OBJECT,
                    DEAD_OBJECT_REMOVED,
                    DEAD_STRETCH,
                    DEAD_STRETCH_REMOVED,
                    RETRY,
                    CHANGE_NOT_SET -> {
                // Nobody's view shows it.
            }
        }
    }

    private void partitionsOf(MetadataView view, TopicId topic) {
        Collection<PartitionState> all = view.partitions(topic);
        all.forEach(p -> partitions.add(p.id()));
    }

    private MetadataDelta build(boolean everything) {
        return new MetadataDelta(everything, topics, partitions, brokers, bookies, tasksOf, configs);
    }
}
