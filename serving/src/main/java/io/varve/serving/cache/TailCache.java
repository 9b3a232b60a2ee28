package io.varve.serving.cache;

import io.netty.buffer.ByteBuf;
import java.util.List;

/**
 * The newest entries of one partition, contiguous, in a ring. It holds a reference to each payload, and hands out further ones to readers. Used
 * by the partition's thread alone.
 */
public final class TailCache {

    private static final int CAPACITY_MIN = 16;

    private final TailBudget budget;
    private long[] firstOffsets = new long[CAPACITY_MIN];
    private long[] lastOffsets = new long[CAPACITY_MIN];
    private ByteBuf[] payloads = new ByteBuf[CAPACITY_MIN];
    private int head;
    private int count;

    public TailCache(TailBudget budget) {
        this.budget = budget;
    }

    /** Adds the newest entry and retains its payload. What does not follow on the entries held makes it forget these. */
    public void add(long firstOffset, long lastOffset, ByteBuf payload) {
        if (count > 0 && lastOffsets[slot(count - 1)] + 1 != firstOffset) {
            clear();
        }
        if (count == payloads.length) {
            grow();
        }
        int at = slot(count++);
        firstOffsets[at] = firstOffset;
        lastOffsets[at] = lastOffset;
        payloads[at] = payload.retain();
        budget.onAdded(this, payload.readableBytes());
    }

    /** Whether the entry with this offset is held. */
    public boolean covers(long offset) {
        return count > 0 && offset >= firstOffsets[head] && offset <= lastOffsets[slot(count - 1)];
    }

    /** Where the oldest entry that is held begins, or -1 if none is. */
    public long firstOffset() {
        return count == 0 ? -1 : firstOffsets[head];
    }

    /**
     * Adds to {@code found}, with a reference for the receiver each, the entries from the one that holds {@code fromOffset} on: while they fit into
     * {@code bytesMax} and end below {@code boundOffset}. Call only if it {@link #covers} the offset.
     *
     * @param atLeastOne whether the first one comes even if it doesn't fit
     */
    public void read(long fromOffset, int bytesMax, boolean atLeastOne, long boundOffset, List<ByteBuf> found) {
        int left = bytesMax;
        for (int i = indexOf(fromOffset); i < count && lastOffsets[slot(i)] < boundOffset; i++) {
            ByteBuf payload = payloads[slot(i)];
            int size = payload.readableBytes();
            if (size > left && !(atLeastOne && found.isEmpty())) {
                return;
            }
            found.add(payload.retainedDuplicate());
            left -= size;
        }
    }

    /** Gives everything back. */
    public void clear() {
        if (count > 0) {
            budget.onCleared(this);
        }
        while (count > 0) {
            removeFirst();
        }
    }

    /** How many entries. */
    public int count() {
        return count;
    }

    /** The budget's word that the oldest entry is to go. */
    void evictFirst() {
        removeFirst();
    }

    private void removeFirst() {
        ByteBuf payload = payloads[head];
        payloads[head] = null;
        head = (head + 1) & (payloads.length - 1);
        count--;
        budget.onRemoved(payload.readableBytes());
        payload.release();
    }

    /** The index of the first entry that does not end before {@code offset}. */
    private int indexOf(long offset) {
        int low = 0;
        int high = count - 1;
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (lastOffsets[slot(middle)] < offset) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private int slot(int index) {
        return (head + index) & (payloads.length - 1);
    }

    private void grow() {
        int capacity = payloads.length;
        long[] first = new long[capacity * 2];
        long[] last = new long[capacity * 2];
        ByteBuf[] held = new ByteBuf[capacity * 2];
        for (int i = 0; i < count; i++) {
            int at = slot(i);
            first[i] = firstOffsets[at];
            last[i] = lastOffsets[at];
            held[i] = payloads[at];
        }
        firstOffsets = first;
        lastOffsets = last;
        payloads = held;
        head = 0;
    }
}
