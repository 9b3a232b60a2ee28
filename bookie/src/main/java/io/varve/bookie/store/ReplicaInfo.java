package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;

/**
 * One replica as the store holds it.
 *
 * @param epoch under which the segment was made
 * @param startOffset the first offset that it may hold
 * @param end its durable end, exclusive
 * @param highWatermark the highest an owner told it, or -1
 * @param sealedEnd the end it was told at the seal, or -1
 * @param bytes entries with their headers
 * @param incarnation of its directory
 * @param health whether it can be vouched for
 */
public record ReplicaInfo(
        SegmentId segment,
        PartitionId partition,
        int epoch,
        long startOffset,
        long end,
        long highWatermark,
        long sealedEnd,
        long bytes,
        long incarnation,
        Health health) {

    /** The same with another health. */
    ReplicaInfo withHealth(Health other) {
        return new ReplicaInfo(
                segment, partition, epoch, startOffset, end, highWatermark, sealedEnd, bytes, incarnation, other);
    }

    /** What is known of a replica. */
    public enum Health {
        /** All is well. */
        INTACT,
        /** The scrub or a read found damage: reads of the damaged range answer CORRUPT, everything else UNKNOWN. */
        QUARANTINED,
        /** Its directory went out of service, or lost data that may have been this segment's. */
        LOST
    }
}
