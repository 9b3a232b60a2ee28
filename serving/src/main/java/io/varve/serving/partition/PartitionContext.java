package io.varve.serving.partition;

import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieInfo;
import io.varve.serving.core.partition.SegmentRules;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteSegments;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What all partitions of a broker share.
 *
 * @param rules {@link SegmentRules#STANDARD} in production
 * @param pendingBytes unacknowledged bytes of all partitions
 * @param fences for takeovers
 * @param metrics of all partitions together
 */
record PartitionContext(
        PartitionPorts ports,
        PartitionOptions options,
        SegmentRules rules,
        AtomicLong pendingBytes,
        FenceBatcher fences,
        PartitionMetrics metrics) {

    int brokerId() {
        return ports.brokerId();
    }

    MetadataClient metadata() {
        return ports.metadata();
    }

    BookieClient bookies() {
        return ports.bookies();
    }

    RemoteSegments remote() {
        return ports.remote();
    }

    ChainManifests manifests() {
        return ports.manifests();
    }

    Clock clock() {
        return ports.clock();
    }

    /** Whether it is this process that is registered under the broker's id, and not a later one. */
    boolean isRegistered(MetadataView view) {
        return view.brokers().stream()
                .anyMatch(b -> b.id() == ports.brokerId() && b.incarnation() == ports.incarnation());
    }

    /** Whether a partition is this process's under that epoch. */
    boolean isOwned(MetadataView view, PartitionId partition, int epoch) {
        return isRegistered(view)
                && view.partition(partition)
                        .filter(p -> p.owner() == ports.brokerId() && p.epoch() == epoch)
                        .isPresent();
    }

    /** Where a bookie is, if its session lives. */
    Optional<BookieAddress> addressOf(BookieId bookie) {
        return addressOf(metadata().view(), bookie);
    }

    static Optional<BookieAddress> addressOf(MetadataView view, BookieId bookie) {
        return view.bookie(bookie)
                .filter(b -> b.state() != BookieInfo.State.GONE)
                .map(b -> new BookieAddress(b.id(), b.host(), b.port()));
    }
}
