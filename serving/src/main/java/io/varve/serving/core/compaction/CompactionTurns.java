package io.varve.serving.core.compaction;

import io.varve.base.PartitionId;
import io.varve.serving.core.compaction.CompactionPlan.Wishes;
import java.util.Set;
import java.util.TreeMap;

/**
 * Whose turn it is: of several partitions that one which had no pass for the longest time, and none that is to be left alone for a while. A pass that ends badly
 * costs the reading of the dirty part and a line in the log, so each one more that ends so is followed by twice the pause. What would be different the next time ends the
 * pause: another owner, another start of the log or of its dirty part, another configuration. One thread.
 */
public final class CompactionTurns {

    /** What doesn't depend on the partition itself comes back by itself. */
    private static final long FAILED_PAUSE_NS_MAX = 60_000_000_000L;
    /** What can't be read now can't be read later, unless somebody mends it. */
    private static final long IMPOSSIBLE_PAUSE_NS_MAX = 3_600_000_000_000L;

    private static final int DOUBLINGS_MAX = 30;

    private final long pauseNsMin;
    private final TreeMap<PartitionId, Past> pasts = new TreeMap<>();

    /** @param pauseNsMin after the first pass that ends badly */
    public CompactionTurns(long pauseNsMin) {
        this.pauseNsMin = Math.max(1, pauseNsMin);
    }

    /**
     * What a pass would be about. While that stays as it is, what went wrong goes wrong again.
     *
     * @param epoch the owner's
     * @param startOffset where the stretch begins
     * @param dirtyOffset where its dirty part begins
     * @param wishes as of no time in particular
     */
    public record Attempt(int epoch, long startOffset, long dirtyOffset, Wishes wishes) {

        /** What a pass by this plan would be about. */
        public static Attempt of(int epoch, CompactionPlan plan, Wishes wishes) {
            return new Attempt(epoch, plan.startOffset(), plan.dirtyOffset(), wishes.at(0));
        }
    }

    /**
     * @param attempt that ended badly; null if the last one didn't
     * @param failures in a row
     */
    private record Past(long endedNs, Attempt attempt, int failures, long pausedUntilNs) {
        boolean isPausedAt(long nowNs) {
            return attempt != null && nowNs - pausedUntilNs < 0;
        }
    }

    /** Whether a partition needn't wait. */
    public boolean mayTry(PartitionId partition, Attempt attempt, long nowNs) {
        Past past = pasts.get(partition);
        return past == null || !past.isPausedAt(nowNs) || !attempt.equals(past.attempt);
    }

    /** Orders partitions by when their last pass ended; those without one come first. */
    public int compare(PartitionId a, PartitionId b) {
        Past ofA = pasts.get(a);
        Past ofB = pasts.get(b);
        if (ofA == null || ofB == null) {
            return Boolean.compare(ofA != null, ofB != null);
        }
        return Long.signum(ofA.endedNs() - ofB.endedNs());
    }

    /** A pass did what it was to do, or was stopped: nothing speaks against the next one. */
    public void onEnd(PartitionId partition, long nowNs) {
        pasts.put(partition, new Past(nowNs, null, 0, nowNs));
    }

    /**
     * A pass ended badly.
     *
     * @param impossible whether that was the partition's fault, and not that of what is around it
     */
    public void onFailure(PartitionId partition, Attempt attempt, boolean impossible, long nowNs) {
        Past past = pasts.get(partition);
        int failures = past != null && attempt.equals(past.attempt()) ? past.failures() + 1 : 1;
        long pauseNsMax = impossible ? IMPOSSIBLE_PAUSE_NS_MAX : FAILED_PAUSE_NS_MAX;
        double pauseNs = pauseNsMin * (double) (1L << Math.min(DOUBLINGS_MAX, failures - 1));
        pasts.put(partition, new Past(nowNs, attempt, failures, nowNs + (long) Math.min(pauseNsMax, pauseNs)));
    }

    /** Forgets all others. */
    public void retain(Set<PartitionId> partitions) {
        pasts.keySet().retainAll(partitions);
    }

    /** How many partitions wait because their last pass ended badly. */
    public int paused(long nowNs) {
        return (int)
                pasts.values().stream().filter(past -> past.isPausedAt(nowNs)).count();
    }
}
