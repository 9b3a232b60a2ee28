package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import io.varve.protocol.meta.MoveStep;
import io.varve.protocol.meta.PlanStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Gives brokers that came, or came back, their share: when no broker has come or gone for a while, one partition a look moves from the one with the most to the one with the
 * fewest, until they differ by little. One at a time, because each move is a short takeover.
 */
final class BalancePlanner {

    /** Brokers may differ by this share of the mean. */
    private static final double SHARE_TOLERATED = 0.1;

    private BalancePlanner() {}

    static Plan.Calm plan(Planner planner, Plan.Calm before) {
        List<Integer> live = new ArrayList<>();
        List<Long> incarnations = new ArrayList<>();
        for (BrokerInfo broker : planner.image.brokers()) {
            if (broker.state() == BrokerInfo.State.LIVE) {
                live.add(broker.id());
                incarnations.add(broker.incarnation());
            }
        }
        if (!incarnations.equals(before.incarnations())) {
            return new Plan.Calm(incarnations, planner.nowMs);
        }
        long delayMs = planner.settings.rebalanceDelayMs();
        boolean isCalm = delayMs >= 0 && planner.nowMs - before.sinceMs() >= delayMs;
        if (isCalm && live.size() > 1 && !planner.isFull()) {
            moveOne(planner, live);
        }
        return before;
    }

    private static void moveOne(Planner planner, List<Integer> live) {
        int most = live.get(0);
        int fewest = live.get(0);
        long sum = 0;
        for (int broker : live) {
            most = owned(planner, broker) > owned(planner, most) ? broker : most;
            fewest = owned(planner, broker) < owned(planner, fewest) ? broker : fewest;
            sum += owned(planner, broker);
        }
        int difference = owned(planner, most) - owned(planner, fewest);
        if (difference >= 2 && difference > SHARE_TOLERATED * sum / live.size()) {
            int to = fewest;
            choose(planner, most, fewest)
                    .ifPresent(partition -> planner.step(PlanStep.newBuilder()
                            .setMove(MoveStep.newBuilder()
                                    .setPartition(ProtoModel.toProto(partition.id()))
                                    .setEpoch(partition.epoch())
                                    .setTo(to))));
        }
    }

    private static int owned(Planner planner, int broker) {
        return planner.image.ownedBy(broker).size();
    }

    /** A partition of the topic in which the two differ most. */
    private static Optional<PartitionState> choose(Planner planner, int from, int to) {
        Map<TopicId, Integer> lead = new TreeMap<>();
        planner.image.ownedBy(from).forEach(p -> lead.merge(p.topic(), 1, Integer::sum));
        planner.image.ownedBy(to).forEach(p -> lead.merge(p.topic(), -1, Integer::sum));
        PartitionId best = null;
        for (PartitionId candidate : planner.image.ownedBy(from)) {
            if (best == null || lead.get(candidate.topic()) > lead.get(best.topic())) {
                best = candidate;
            }
        }
        return Optional.ofNullable(best).flatMap(planner.image::partition);
    }
}
