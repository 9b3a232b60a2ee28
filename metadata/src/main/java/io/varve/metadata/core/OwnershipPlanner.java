package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.BrokerInfo;
import io.varve.metadata.model.PartitionState;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;

/**
 * Chooses owners: a partition stays where it is while its broker lives; one without an owner goes to the live broker with the fewest partitions of the
 * same topic, among those to the one with the fewest in all, and among those to the one with the lowest id.
 */
final class OwnershipPlanner {

    private final Map<Integer, Integer> owned = new TreeMap<>();
    private final Map<TopicId, Map<Integer, Integer>> ownedByTopic = new TreeMap<>();
    private final MetadataImage image;

    OwnershipPlanner(MetadataImage image) {
        this.image = image;
        for (BrokerInfo broker : image.brokers()) {
            if (broker.state() == BrokerInfo.State.LIVE) {
                owned.put(broker.id(), image.ownedBy(broker.id()).size());
            }
        }
    }

    /**
     * Who is to own {@code partition} next; what was chosen before counts as done.
     *
     * @param except a broker that is taken only if there is no other, or {@link PartitionState#NO_OWNER}
     * @return {@link PartitionState#NO_OWNER} if none lives
     */
    int choose(PartitionId partition, int except) {
        Map<Integer, Integer> ofTopic = ownedByTopic.computeIfAbsent(partition.topic(), this::countOf);
        int best = PartitionState.NO_OWNER;
        for (int candidate : owned.keySet()) {
            if (best == PartitionState.NO_OWNER
                    || best == except
                    || candidate != except && isLighter(candidate, best, ofTopic)) {
                best = candidate;
            }
        }
        if (best != PartitionState.NO_OWNER) {
            owned.merge(best, 1, Integer::sum);
            ofTopic.merge(best, 1, Integer::sum);
        }
        return best;
    }

    /** Gives each of {@code partitions} the owner chosen for it, at its next epoch. */
    static void reassign(Draft draft, Collection<PartitionId> partitions) {
        OwnershipPlanner planner = new OwnershipPlanner(draft.image());
        for (PartitionId id : partitions) {
            PartitionState partition = draft.image().partitionIndex().living().get(id);
            int owner = planner.choose(id, PartitionState.NO_OWNER);
            if (owner != partition.owner()) {
                give(draft, partition, owner);
            }
        }
    }

    /** Makes a broker the owner, at the next epoch, with a segment to go on in; or nobody. */
    static void give(Draft draft, PartitionState partition, int owner) {
        draft.putPartition(partition.id(), owner, partition.epoch() + 1, partition.logStartOffset());
        if (owner != PartitionState.NO_OWNER) {
            SegmentCommands.allocateForTakeover(
                    draft, draft.image().partition(partition.id()).orElseThrow());
        }
    }

    private boolean isLighter(int candidate, int than, Map<Integer, Integer> ofTopic) {
        int byTopic = Integer.compare(ofTopic.getOrDefault(candidate, 0), ofTopic.getOrDefault(than, 0));
        return byTopic < 0 || byTopic == 0 && owned.get(candidate) < owned.get(than);
    }

    private Map<Integer, Integer> countOf(TopicId topic) {
        Map<Integer, Integer> counts = new TreeMap<>();
        for (PartitionState partition : image.partitions(topic)) {
            counts.merge(partition.owner(), 1, Integer::sum);
        }
        return counts;
    }
}
