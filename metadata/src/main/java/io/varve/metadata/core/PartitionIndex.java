package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import io.varve.metadata.model.PartitionState;
import org.pcollections.TreePMap;
import org.pcollections.TreePSet;

/**
 * The partitions. Immutable.
 *
 * @param living those of living topics
 * @param condemned those of deleted topics that still hold something
 * @param owned the living ones by owner; those without one under {@link PartitionState#NO_OWNER}
 */
record PartitionIndex(
        TreePMap<PartitionId, PartitionState> living,
        TreePMap<PartitionId, PartitionState> condemned,
        TreePMap<Integer, TreePSet<PartitionId>> owned) {

    static final PartitionIndex EMPTY = new PartitionIndex(TreePMap.empty(), TreePMap.empty(), TreePMap.empty());

    /** The partition, whether its topic lives or not; null if there is none. */
    PartitionState find(PartitionId id) {
        PartitionState found = living.get(id);
        return found != null ? found : condemned.get(id);
    }

    /** With a living partition put in its place. */
    PartitionIndex with(PartitionState partition) {
        PartitionState old = living.get(partition.id());
        TreePMap<Integer, TreePSet<PartitionId>> owners = owned;
        if (old == null || old.owner() != partition.owner()) {
            owners = old == null ? owners : disowned(owners, old);
            owners = owners.plus(
                    partition.owner(), ownedBy(owners, partition.owner()).plus(partition.id()));
        }
        return new PartitionIndex(living.plus(partition.id(), partition), condemned, owners);
    }

    /** With a partition among the condemned. */
    PartitionIndex withCondemned(PartitionState partition) {
        PartitionState old = living.get(partition.id());
        return new PartitionIndex(
                living.minus(partition.id()),
                condemned.plus(partition.id(), partition),
                old == null ? owned : disowned(owned, old));
    }

    /** With the partition put where it was, living or condemned. */
    PartitionIndex replaced(PartitionState partition) {
        return living.containsKey(partition.id())
                ? with(partition)
                : new PartitionIndex(living, condemned.plus(partition.id(), partition), owned);
    }

    PartitionIndex withoutCondemned(PartitionId id) {
        return new PartitionIndex(living, condemned.minus(id), owned);
    }

    TreePSet<PartitionId> ownedBy(int broker) {
        return ownedBy(owned, broker);
    }

    /** The living partitions of a topic by index. */
    TreePMap<PartitionId, PartitionState> ofTopic(TopicId topic) {
        return living.subMap(new PartitionId(topic, 0), true, new PartitionId(topic, Integer.MAX_VALUE), true);
    }

    private static TreePSet<PartitionId> ownedBy(TreePMap<Integer, TreePSet<PartitionId>> owners, int broker) {
        TreePSet<PartitionId> set = owners.get(broker);
        return set == null ? TreePSet.empty() : set;
    }

    private static TreePMap<Integer, TreePSet<PartitionId>> disowned(
            TreePMap<Integer, TreePSet<PartitionId>> owners, PartitionState partition) {
        TreePSet<PartitionId> left = ownedBy(owners, partition.owner()).minus(partition.id());
        return left.isEmpty() ? owners.minus(partition.owner()) : owners.plus(partition.owner(), left);
    }
}
