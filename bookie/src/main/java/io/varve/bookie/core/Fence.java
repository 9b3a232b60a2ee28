package io.varve.bookie.core;

import io.varve.base.PartitionId;

/**
 * A partition's fence as this bookie holds it: no append below it is accepted, ever (I-4). Shared by the partition's replicas, whichever
 * directory they are in. Only rises. Safe for any thread.
 */
public final class Fence {

    private final PartitionId partition;
    private volatile int epoch;

    /** @param epoch the fence that stands; 0 for none, as owners' epochs are not negative */
    public Fence(PartitionId partition, int epoch) {
        this.partition = partition;
        this.epoch = epoch;
    }

    /** Whose fence it is. */
    public PartitionId partition() {
        return partition;
    }

    /** The lowest epoch that may still append. */
    public int epoch() {
        return epoch;
    }

    /**
     * Raises the fence.
     *
     * @return whether {@code to} stands now: {@code false} if a higher one stood already
     */
    public synchronized boolean raise(int to) {
        if (to < epoch) {
            return false;
        }
        epoch = to;
        return true;
    }

    /** Whether an owner of that epoch is refused. */
    public boolean refuses(int ownerEpoch) {
        return ownerEpoch < epoch;
    }
}
