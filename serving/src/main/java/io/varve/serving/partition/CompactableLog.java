package io.varve.serving.partition;

import io.varve.base.PartitionId;
import io.varve.metadata.model.PartitionState;
import io.varve.serving.log.PartitionLog.Offsets;
import java.util.concurrent.CompletableFuture;

/** What compaction needs of a partition's owner. Safe for any thread. */
interface CompactableLog {

    /** Which partition. */
    PartitionId id();

    /** The owner's. */
    int epoch();

    /** The partition as its owner knows it. */
    PartitionState partition();

    /** Where the log stands now. */
    Offsets offsets();

    /** Whether the takeover is over, and the tenure isn't. */
    boolean isServing();

    /** Whether the tenure is over. */
    boolean isLost();

    /**
     * What a compaction goes by, as of now; fails if that can't be known.
     *
     * @param dirtyOffset where what no pass has looked at begins
     * @param endOffset where the stretch ends, exclusive
     */
    CompletableFuture<CompactionSource> forCompaction(long dirtyOffset, long endOffset);
}
