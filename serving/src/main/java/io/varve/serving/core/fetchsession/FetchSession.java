package io.varve.serving.core.fetchsession;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One session: the partitions it is about in the order in which they are served, and what was last said of each. Those that gave records
 * move to the end, so that none starves. One owner at a time: the caller serializes.
 *
 * @param <K> how a partition is named
 */
public final class FetchSession<K> {

    /** Told of nothing yet. */
    private static final long NEVER = Long.MIN_VALUE;

    private final int id;
    private final boolean topicsById;
    private final String owner;
    private final LinkedHashMap<K, Tracked> partitions = new LinkedHashMap<>();
    private int epoch = 1;
    private long lastUsedMs;

    FetchSession(int id, boolean topicsById, String owner, long nowMs) {
        this.id = id;
        this.topicsById = topicsById;
        this.owner = owner;
        this.lastUsedMs = nowMs;
    }

    private static final class Tracked {
        private Wanted wanted;
        private long highWatermark = NEVER;
        private long logStart = NEVER;
        private boolean failed;

        private Tracked(Wanted wanted) {
            this.wanted = wanted;
        }
    }

    /** Its number, which is not 0. */
    public int id() {
        return id;
    }

    /** The epoch that the next request must carry. */
    public int epoch() {
        return epoch;
    }

    /** How many partitions it is about. */
    public int size() {
        return partitions.size();
    }

    boolean topicsById() {
        return topicsById;
    }

    String owner() {
        return owner;
    }

    long lastUsedMs() {
        return lastUsedMs;
    }

    void use(long nowMs) {
        lastUsedMs = nowMs;
    }

    void nextEpoch() {
        epoch = epoch == Integer.MAX_VALUE ? 1 : epoch + 1;
    }

    /** Adds partitions, changes what is wanted of those it has, and forgets others. */
    void update(Map<K, Wanted> wanted, List<K> forgotten) {
        wanted.forEach((partition, what) -> {
            Tracked tracked = partitions.get(partition);
            if (tracked == null) {
                partitions.put(partition, new Tracked(what));
            } else {
                tracked.wanted = what;
            }
        });
        forgotten.forEach(partition -> partitions.remove(partition));
    }

    /** Everything it is about, in the order in which it is to be served. */
    Map<K, Wanted> wanted() {
        LinkedHashMap<K, Wanted> all = new LinkedHashMap<>();
        partitions.forEach((partition, tracked) -> all.put(partition, tracked.wanted));
        return all;
    }

    /**
     * Whether an incremental answer has to mention the partition, which is then taken as said: it does if there are records or an error, if
     * an error is over, or if the high watermark or the start moved.
     */
    boolean mention(K partition, boolean records, boolean error, long highWatermark, long logStart) {
        Tracked tracked = partitions.get(partition);
        if (tracked == null) {
            return true;
        }
        boolean changed = records
                || error
                || tracked.failed
                || tracked.highWatermark != highWatermark
                || tracked.logStart != logStart;
        tracked.failed = error;
        // An error says nothing of these, so the next success has to.
        tracked.highWatermark = error ? NEVER : highWatermark;
        tracked.logStart = error ? NEVER : logStart;
        return changed;
    }

    /** Moves partitions that gave records behind the others. */
    void served(List<K> gaveRecords) {
        for (K partition : new ArrayList<>(gaveRecords)) {
            Tracked tracked = partitions.remove(partition);
            if (tracked != null) {
                partitions.put(partition, tracked);
            }
        }
    }
}
