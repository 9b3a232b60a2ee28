package io.varve.serving.core.partition;

import io.varve.base.Invariant;

/**
 * What the owner of a partition goes by.
 *
 * @param replicas R, what a segment should have
 * @param segmentBytesMax a segment is rolled when it holds so much ({@code segment.bytes})
 * @param segmentAgeNsMax or is so old and not empty ({@code segment.ms})
 * @param prepareBytes the next segment is allocated when so much is left to {@code segmentBytesMax}
 * @param checkpointBytes between two checkpoints of the owner's state
 * @param windowBytesMax how much may be unacknowledged
 * @param lagBytesMax a replica that has so much unconfirmed is dropped and the segment rolled
 * @param lagNsMax likewise, when it lags so long behind what the others hold
 * @param retryNs first pause after a failed step; doubled up to 32 times that
 * @param avoidNs for how long a bookie that failed is not asked for
 * @param trailNs for how long a sealed segment's slow replicas are given to catch up and be confirmed
 * @param releaseNs how long a release waits for acknowledgements before it seals at the high watermark
 */
public record LeaderOptions(
        int replicas,
        long segmentBytesMax,
        long segmentAgeNsMax,
        long prepareBytes,
        long checkpointBytes,
        long windowBytesMax,
        long lagBytesMax,
        long lagNsMax,
        long retryNs,
        long avoidNs,
        long trailNs,
        long releaseNs) {

    public LeaderOptions {
        Invariant.check(replicas >= 1, "R is positive", replicas);
        Invariant.check(segmentBytesMax > 0, "a segment holds something", segmentBytesMax);
        Invariant.check(retryNs > 0, "retries pause", retryNs);
    }

    /** The defaults, with R and the topic's segment limits. */
    public static LeaderOptions of(int replicas, long segmentBytesMax, long segmentAgeNsMax) {
        return new LeaderOptions(
                replicas,
                segmentBytesMax,
                segmentAgeNsMax,
                Math.min(segmentBytesMax / 4, 32L << 20),
                4L << 20,
                32L << 20,
                16L << 20,
                5_000_000_000L,
                50_000_000L,
                30_000_000_000L,
                10_000_000_000L,
                500_000_000L);
    }
}
