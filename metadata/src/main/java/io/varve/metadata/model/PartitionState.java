package io.varve.metadata.model;

import io.varve.base.PartitionId;
import java.util.Objects;

/**
 * What the metadata service knows of one partition.
 *
 * @param id which
 * @param owner the broker that serves it, {@link #NO_OWNER} while none lives
 * @param epoch raised by one at each change of owner; Kafka's leader epoch
 * @param logStartOffset the first offset that readers may ask for; never moves back
 * @param chain its segments
 */
public record PartitionState(PartitionId id, int owner, int epoch, long logStartOffset, SegmentChain chain) {

    /** No broker. */
    public static final int NO_OWNER = -1;

    public PartitionState {
        Objects.requireNonNull(id, "id");
        Objects.requireNonNull(chain, "chain");
    }
}
