package io.varve.metadata.core;

import io.varve.base.PartitionId;
import io.varve.protocol.meta.PlanStep;
import java.util.List;
import java.util.Optional;

/**
 * What one look at the image led to.
 *
 * @param steps to be decided in this order; empty if nothing is to be done
 * @param underReplicated how many of the sealed segments looked at, which object storage doesn't hold, have fewer copies on living bookies than they should have
 * @param next where the next look goes on
 */
public record Plan(List<PlanStep> steps, int underReplicated, Cursor next) {
    public Plan {
        steps = List.copyOf(steps);
    }

    /**
     * How far the walks over large sets have come, for each look takes a slice of them.
     *
     * @param partition the last partition looked at
     * @param localOnly the last segment looked at that is not in object storage
     * @param inBoth the last segment looked at that is in both
     */
    public record Cursor(Optional<PartitionId> partition, long localOnly, long inBoth) {
        /** From the beginning. */
        public static final Cursor START = new Cursor(Optional.empty(), 0, 0);

        /** Whether the next look begins all walks anew. */
        public boolean isAtStart() {
            return partition.isEmpty() && localOnly == 0 && inBoth == 0;
        }
    }
}
