package io.varve.serving.partition;

import io.varve.base.PartitionId;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.core.partition.LogState;
import io.varve.serving.log.PartitionLog.Isolation;
import io.varve.serving.log.PartitionLog.Offsets;

/** What {@link LogReader} reads. On the log's loop. */
interface ReadableLog {

    /** Which partition. */
    PartitionId id();

    /** The epoch under which this process owns it, or -1 if it is another one's. */
    int ownedEpoch();

    /** Where the log stands now. */
    Offsets offsets();

    /** Whether it may be read. */
    boolean isServing();

    /** The partition as it is now. */
    PartitionState partition();

    /** The state of producers and transactions at its end. */
    LogState state();

    /** Below it a reader may see what there is. */
    long bound(Isolation isolation);
}
