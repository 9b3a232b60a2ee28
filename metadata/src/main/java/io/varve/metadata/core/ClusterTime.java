package io.varve.metadata.core;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The time by which the leader plans and stamps commands: the middle one of the metadata nodes' wall clocks, carried on by the leader's monotonic clock. Retention, the forgetting of
 * clients and all deadlines in the state go by it, so that it must not jump when one clock does.
 *
 * <p>Of an even number of clocks the earlier of the middle two counts: what is done late does no harm, what is deleted early does. And when the middle itself moves, as on a single node whose clock is set, the time follows
 * slowly, no faster than twice and no slower than half as fast as real time.
 *
 * <p>All times in milliseconds. Used by one thread.
 */
public final class ClusterTime {

    /** How far each node's wall clock is ahead of this process's monotonic one. */
    private final SortedMap<Integer, Long> offsets = new TreeMap<>();

    private boolean settled;
    private long offset;
    private long movedAt;

    /** Leadership begins: what the nodes' clocks say is not known yet. */
    public void restart() {
        offsets.clear();
        settled = false;
    }

    /** A node's wall clock showed {@code wallMs} when this process's monotonic one showed {@code monotonicMs}. */
    public void onHeard(int node, long wallMs, long monotonicMs) {
        move(monotonicMs);
        offsets.put(node, wallMs - monotonicMs);
        if (!settled) {
            offset = middle();
        }
    }

    /** Only these nodes' clocks count from now on. */
    public void retain(List<Integer> nodes) {
        offsets.keySet().retainAll(nodes);
    }

    /** Of how many nodes the clock is known. */
    public int known() {
        return offsets.size();
    }

    /** Enough clocks are known, or the others don't answer: from now on the time moves steadily. */
    public void settle() {
        settled = true;
    }

    /** Whether it moves steadily. */
    public boolean isSettled() {
        return settled;
    }

    /** The time. Ask only after a clock was heard of. */
    public long now(long monotonicMs) {
        move(monotonicMs);
        return monotonicMs + offset;
    }

    /** How far a node's clock is ahead of this time; 0 for one that was not heard of. */
    public long ahead(int node) {
        return offsets.getOrDefault(node, offset) - offset;
    }

    private void move(long monotonicMs) {
        long elapsed = Math.max(0, monotonicMs - movedAt);
        movedAt = monotonicMs;
        if (settled && !offsets.isEmpty()) {
            offset += Math.max(-elapsed / 2, Math.min(elapsed, middle() - offset));
        }
    }

    private long middle() {
        List<Long> sorted = new ArrayList<>(offsets.values());
        sorted.sort(null);
        return sorted.get((sorted.size() - 1) / 2);
    }
}
