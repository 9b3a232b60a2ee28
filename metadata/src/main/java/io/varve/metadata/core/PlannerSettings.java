package io.varve.metadata.core;

import io.varve.base.Invariant;

/**
 * What the leader's planners go by. Only the leader reads them: they shape what is proposed, never how a proposal is decided.
 *
 * @param offloadDelayMs how long after its seal a segment is offloaded
 * @param offloadMergeBytes how large an object made of several small segments may get
 * @param offloadSmallBytes a stretch smaller than this, and smaller than half of {@code segment.bytes}, waits for more
 * @param offloadSmallWaitMs how long at most
 * @param taskDeadlineMs after how long an offload or a copy is taken back and given out again
 * @param abandonedAttemptMs how long an attempt that was taken back, or whose bookie went away, may go on writing its object for all anybody knows; only then that is deleted
 * @param confirmDelayMs how long after its seal a segment's unconfirmed replicas are waited for
 * @param repairDelayMs how long a bookie that went away is waited for before its replicas count as missing
 * @param offloadsPerBookie how many offloads a bookie has at a time
 * @param copiesPerBookie how many copies a bookie makes at a time
 * @param objectDeletionsPerBookie how many deletions of objects a bookie has at a time
 * @param manifestSegmentsMin how many segments at the head of a chain, all of them in object storage alone, are worth moving into its manifest
 * @param manifestsPerBookie how many manifests a bookie works on at a time
 * @param clientForgetMs how long the answers given to a client that asks no more are kept; above any client's deadline
 */
public record PlannerSettings(
        long offloadDelayMs,
        long offloadMergeBytes,
        long offloadSmallBytes,
        long offloadSmallWaitMs,
        long taskDeadlineMs,
        long abandonedAttemptMs,
        long confirmDelayMs,
        long repairDelayMs,
        int offloadsPerBookie,
        int copiesPerBookie,
        int objectDeletionsPerBookie,
        int manifestSegmentsMin,
        int manifestsPerBookie,
        long clientForgetMs) {

    /** What is used unless an operator says otherwise. */
    public static final PlannerSettings DEFAULT = new PlannerSettings(
            1_000,
            256 << 20,
            8 << 20,
            60_000,
            600_000,
            Planner.ABANDONED_ATTEMPT_MS,
            30_000,
            600_000,
            4,
            2,
            32,
            64,
            4,
            600_000);

    public PlannerSettings {
        Invariant.check(
                offloadMergeBytes >= offloadSmallBytes, "a merged object is not a small one", offloadMergeBytes);
        Invariant.check(
                offloadsPerBookie > 0 && copiesPerBookie > 0 && objectDeletionsPerBookie > 0, "some work is done");
        Invariant.check(manifestSegmentsMin > 0 && manifestsPerBookie > 0, "some manifests are built");
    }
}
