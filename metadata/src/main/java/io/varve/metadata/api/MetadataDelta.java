package io.varve.metadata.api;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import java.util.SortedSet;

/**
 * Where two versions may differ. Named things may have appeared, changed or gone.
 *
 * @param everything whether the client was too far behind for deltas and all may differ; the sets are then complete, not empty
 * @param topics topics created, deleted, enlarged or reconfigured
 * @param partitions partitions whose owner, epoch, chain or log start changed
 * @param brokers registered, gone or changed brokers
 * @param bookies registered, gone or changed bookies
 * @param tasksOf bookies whose tasks changed
 * @param configs whether cluster or broker configuration changed
 */
public record MetadataDelta(
        boolean everything,
        SortedSet<TopicId> topics,
        SortedSet<PartitionId> partitions,
        SortedSet<Integer> brokers,
        SortedSet<BookieId> bookies,
        SortedSet<BookieId> tasksOf,
        boolean configs) {}
