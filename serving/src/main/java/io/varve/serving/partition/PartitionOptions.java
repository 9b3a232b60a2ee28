package io.varve.serving.partition;

import io.varve.metadata.model.TopicConfigs;
import io.varve.serving.core.partition.LeaderOptions;
import java.util.Optional;

/**
 * Limits of a broker's partitions.
 *
 * @param loops event loops that partitions are spread over
 * @param tickMs how often a loop looks at its partitions' clocks
 * @param cacheBytes recent entries kept in memory, over all loops
 * @param pendingBytesMax unacknowledged bytes of one partition; more is refused as OVERLOADED
 * @param pendingBytesTotalMax unacknowledged bytes of the broker
 * @param lagBytesMax a replica with so much unconfirmed is dropped and the segment rolled
 * @param lagMs likewise when it lags so long
 * @param avoidMs for how long a bookie that was dropped, or whose connection was lost, is given no new segment
 * @param checkpointBytes between checkpoints of the owner's state
 * @param callTimeoutMs deadline of one call to a bookie
 * @param recoveryReadsMax reads that takeovers have under way at a time, for each loop
 * @param readBytesMax the most that one read asks a bookie or object storage for
 * @param producerIdExpirationMs for how long an idle producer is remembered
 * @param rebalanceDelayMs how long no broker may have come or gone before partitions are handed over to brokers that have fewer; -1 for never
 * @param compaction of topics whose cleanup.policy asks for it
 */
public record PartitionOptions(
        int loops,
        long tickMs,
        long cacheBytes,
        long pendingBytesMax,
        long pendingBytesTotalMax,
        long lagBytesMax,
        long lagMs,
        long avoidMs,
        long checkpointBytes,
        long callTimeoutMs,
        int recoveryReadsMax,
        int readBytesMax,
        long producerIdExpirationMs,
        long rebalanceDelayMs,
        CompactionOptions compaction) {

    /**
     * For a partition's leader.
     *
     * @param replicas R
     * @param configs the topic's; empty if it is gone
     */
    LeaderOptions leader(int replicas, Optional<TopicConfigs> configs) {
        LeaderOptions base = LeaderOptions.of(
                replicas,
                configs.map(c -> (long) c.segmentBytes()).orElse(1L << 30),
                configs.map(c -> nanos(c.segmentMs())).orElse(Long.MAX_VALUE));
        return new LeaderOptions(
                base.replicas(),
                base.segmentBytesMax(),
                base.segmentAgeNsMax(),
                base.prepareBytes(),
                checkpointBytes,
                pendingBytesMax,
                lagBytesMax,
                nanos(lagMs),
                base.retryNs(),
                nanos(avoidMs),
                base.trailNs(),
                base.releaseNs());
    }

    private static long nanos(long ms) {
        return ms >= Long.MAX_VALUE / 1_000_000 ? Long.MAX_VALUE : ms * 1_000_000;
    }

    /** The defaults, sized to the heap. */
    public static PartitionOptions defaults() {
        return sized(
                Runtime.getRuntime().availableProcessors(), Runtime.getRuntime().maxMemory());
    }

    private static PartitionOptions sized(int processors, long memoryBytes) {
        return new PartitionOptions(
                Math.max(1, processors / 2),
                20,
                memoryBytes / 8,
                32L << 20,
                memoryBytes / 8,
                16L << 20,
                5_000,
                30_000,
                4L << 20,
                2_000,
                32,
                4 << 20,
                86_400_000L,
                30_000,
                CompactionOptions.sized(memoryBytes));
    }
}
