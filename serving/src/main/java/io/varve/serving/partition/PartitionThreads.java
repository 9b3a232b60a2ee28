package io.varve.serving.partition;

import java.util.List;

/**
 * What a broker's partitions run on.
 *
 * @param loops that partitions are spread over
 * @param compaction what compactions run on; may be one of the loops
 * @param onClose stops them and waits for it; closed last
 */
public record PartitionThreads(List<LoopThread> loops, LoopThread compaction, AutoCloseable onClose) {

    /** Copies the list. */
    public PartitionThreads {
        loops = List.copyOf(loops);
    }

    /** Threads of their own: so many loops, and one for compactions. */
    static PartitionThreads own(int loops) {
        NettyLoops forPartitions = new NettyLoops("varve-partition", loops);
        NettyLoops forCompaction = new NettyLoops("varve-compaction", 1);
        return new PartitionThreads(
                forPartitions.threads(), forCompaction.threads().get(0), () -> {
                    forCompaction.close();
                    forPartitions.close();
                });
    }
}
