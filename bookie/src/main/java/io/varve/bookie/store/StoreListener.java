package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;

/** What the store reports unasked, and what it asks. Called on its threads, one call at a time per directory; must not block. */
public interface StoreListener {

    /** Reports nothing. */
    StoreListener NONE = new StoreListener() {};

    /**
     * A replica can't be vouched for any more, and is to be made anew from another copy.
     *
     * @param why one line
     */
    default void onReplicaDamaged(SegmentId segment, long incarnation, String why) {}

    /** Whether the cluster itself stands on a partition: it may use the first half of a full directory's reserve. Asked only then. */
    default boolean isEssential(PartitionId partition) {
        return false;
    }

    /** A directory went out of service with all its replicas (I-12). */
    default void onDirectoryLost(long incarnation, String why) {}

    /** Whether new segments and appends are taken has changed. */
    default void onReadOnlyChanged(boolean readOnly) {}

    /** Whether a directory's fsyncs take too long has changed. */
    default void onSlowDiskChanged(long incarnation, boolean slow) {}
}
