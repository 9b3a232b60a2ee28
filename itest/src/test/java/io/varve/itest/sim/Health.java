package io.varve.itest.sim;

import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.model.BookieInfo;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What is wrong with a cluster once nothing goes wrong any more, looked up in the metadata; and what kinds of things a run has seen. */
final class Health {

    /** Something that a run may see. */
    enum Sight {
        UNDER_REPLICATED,
        REPAIR,
        OFFLOADED,
        LOCAL_COPIES_DELETED,
        COMPACTED,
        COMPACTED_IN_PART,
        BOOKIE_DRAINED,
        BROKER_DRAINING
    }

    private final SimCluster cluster;
    private final Topic topic;
    private final RunOptions options;
    private final Map<Sight, Integer> seen = new EnumMap<>(Sight.class);

    Health(SimCluster cluster, Topic topic, RunOptions options) {
        this.cluster = cluster;
        this.topic = topic;
        this.options = options;
    }

    // ---- sights
    // -----------------------------------------------------------------------------------------------------------------

    Map<Sight, Integer> seen() {
        return seen;
    }

    void look() {
        MetadataImage image = cluster.metadata().image();
        image.tasks().stream()
                .filter(task -> task instanceof BookieTask.CopyReplica)
                .forEach(task -> saw(Sight.REPAIR));
        image.brokers().stream()
                .filter(broker -> broker.state() == BrokerInfo.State.DRAINING)
                .forEach(broker -> saw(Sight.BROKER_DRAINING));
        for (int id = 1; id <= options.bookies(); id++) {
            if (image.bookie(new io.varve.base.BookieId(id)).isEmpty()) {
                saw(Sight.BOOKIE_DRAINED);
            }
        }
        for (PartitionState partition : image.partitions(topic.id())) {
            for (SegmentDescriptor segment : partition.chain().segments()) {
                if (segment.isCompacted()) {
                    saw(segment.compactedEnd() < segment.endOffset() ? Sight.COMPACTED_IN_PART : Sight.COMPACTED);
                }
                if (segment.isOffloaded()) {
                    saw(segment.replicas().isEmpty() ? Sight.LOCAL_COPIES_DELETED : Sight.OFFLOADED);
                } else if (isShort(segment, image)) {
                    saw(Sight.UNDER_REPLICATED);
                }
            }
        }
    }

    private void saw(Sight sight) {
        seen.merge(sight, 1, Integer::sum);
    }

    // ---- wrongs
    // -----------------------------------------------------------------------------------------------------------------

    /** In words, one for each thing that is not as it should be in the end. */
    List<String> whatIsWrong() {
        MetadataImage image = cluster.metadata().image();
        List<String> wrong = new ArrayList<>();
        for (BookieInfo bookie : image.bookies()) {
            if (bookie.state() != BookieInfo.State.WRITABLE) {
                wrong.add("bookie " + bookie.id() + " is " + bookie.state());
            }
        }
        for (BrokerInfo broker : image.brokers()) {
            if (broker.state() != BrokerInfo.State.LIVE) {
                wrong.add("broker " + broker.id() + " is " + broker.state());
            }
        }
        image.tasks().forEach(task -> wrong.add("left to do: " + task));
        for (PartitionState partition : image.partitions(topic.id())) {
            for (SegmentDescriptor segment : partition.chain().segments()) {
                if (segment.state() == SegmentDescriptor.State.SEALED) {
                    wrongWith(segment, image, wrong);
                } else if (isShort(segment, image)) {
                    // Nothing is written any more: only time can have it rolled, and repair sees to sealed ones alone.
                    wrong.add("open segment " + segment.id() + " has " + segment.replicas());
                }
            }
        }
        return wrong;
    }

    private void wrongWith(SegmentDescriptor segment, MetadataImage image, List<String> wrong) {
        if (options.isTiered() && !segment.isOffloaded()) {
            wrong.add("segment " + segment.id() + " is not in object storage");
        }
        if (!segment.isOffloaded() && isShort(segment, image)) {
            wrong.add("segment " + segment.id() + " has " + segment.replicas() + ", unconfirmed "
                    + segment.unconfirmed());
        }
    }

    private boolean isShort(SegmentDescriptor segment, MetadataImage image) {
        long living = 0;
        for (Replica replica : segment.replicas()) {
            living += image.bookie(replica.bookie())
                            .filter(b -> b.state() == BookieInfo.State.WRITABLE
                                    && b.incarnations().contains(replica.incarnation()))
                            .isPresent()
                    ? 1
                    : 0;
        }
        return living < topic.replicas();
    }
}
