package io.varve.serving.cache;

import java.util.ArrayDeque;

/**
 * Bytes that the tail caches of one event loop share. Over the budget, the entry that was added first goes first, whichever partition's it is: what is
 * read from the tail is read soon after it was written. Used by one thread.
 */
public final class TailBudget {

    private final long bytesMax;
    /** One mention of a cache for each entry that it holds, in the order in which they were added. */
    private final ArrayDeque<TailCache> order = new ArrayDeque<>();

    private long bytes;

    public TailBudget(long bytesMax) {
        this.bytesMax = bytesMax;
    }

    /** Bytes held by all caches of the loop. */
    public long bytes() {
        return bytes;
    }

    void onAdded(TailCache cache, int sizeBytes) {
        bytes += sizeBytes;
        order.addLast(cache);
        while (bytes > bytesMax && !order.isEmpty()) {
            order.pollFirst().evictFirst();
        }
    }

    /** All that the cache holds is on its way out. */
    void onCleared(TailCache cache) {
        order.removeIf(mentioned -> mentioned == cache);
    }

    void onRemoved(int sizeBytes) {
        bytes -= sizeBytes;
    }
}
