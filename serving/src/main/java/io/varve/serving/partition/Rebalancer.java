package io.varve.serving.partition;

import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BrokerInfo;
import io.varve.serving.core.ownership.Balance;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Hands partitions over to brokers that have fewer, one after the other, once no broker has come or gone for a while. Handed over, and not taken by the metadata
 * service: so it costs a partition a few milliseconds and no fence. Used on one loop.
 */
final class Rebalancer {

    private static final Logger LOG = LoggerFactory.getLogger(Rebalancer.class);
    /** A handover that takes longer is not waited for any more. */
    private static final long HANDOVER_NS_MAX = 5_000_000_000L;

    private final int self;
    private final Supplier<MetadataView> metadata;
    private final Clock clock;
    private final long delayNs;
    private final Handover handover;
    private List<Long> brokers = List.of();
    private long calmSinceNs;
    private Optional<PartitionId> leaving = Optional.empty();
    private long leavingSinceNs;

    /** Gives a partition to another broker. */
    interface Handover {
        void begin(PartitionId partition, int successor);
    }

    /** @param delayMs how long no broker may have come or gone; -1 for never */
    Rebalancer(int self, Supplier<MetadataView> metadata, Clock clock, long delayMs, Handover handover) {
        this.self = self;
        this.metadata = metadata;
        this.clock = clock;
        this.delayNs = delayMs * 1_000_000;
        this.handover = handover;
    }

    /** Looks whether one should be handed over. Called every few tens of milliseconds. */
    void tick() {
        MetadataView view = metadata.get();
        long nowNs = clock.nanoTime();
        TreeMap<Integer, Integer> counts = new TreeMap<>();
        List<Long> live = new ArrayList<>();
        for (BrokerInfo broker : view.brokers()) {
            if (broker.state() == BrokerInfo.State.LIVE) {
                counts.put(broker.id(), view.ownedBy(broker.id()).size());
                live.add(broker.incarnation());
            }
        }
        if (!live.equals(brokers)) {
            brokers = live;
            calmSinceNs = nowNs;
        }
        if (delayNs < 0 || nowNs - calmSinceNs < delayNs || isLeaving(view, nowNs)) {
            return;
        }
        Balance.successor(self, counts).ifPresent(to -> begin(view, to, nowNs));
    }

    private boolean isLeaving(MetadataView view, long nowNs) {
        return nowNs - leavingSinceNs < HANDOVER_NS_MAX
                && leaving.flatMap(view::partition)
                        .filter(p -> p.owner() == self)
                        .isPresent();
    }

    private void begin(MetadataView view, int successor, long nowNs) {
        leaving = Balance.partition(view.ownedBy(self), view.ownedBy(successor));
        leavingSinceNs = nowNs;
        leaving.ifPresent(partition -> {
            LOG.info("event=rebalance partition={} from={} to={}", partition, self, successor);
            handover.begin(partition, successor);
        });
    }
}
