package io.varve.serving.core.partition;

import io.varve.base.Invariant;

/**
 * The entries that are assigned and not yet acknowledged, in order: what a roll has to carry. A ring of columns, so that an entry costs
 * no object.
 *
 * @param <P> the payload, never looked into
 */
final class EntryWindow<P> {

    private static final int CAPACITY_MIN = 16;

    private long[] first = new long[CAPACITY_MIN];
    private long[] last = new long[CAPACITY_MIN];
    private long[] maxTimestampMs = new long[CAPACITY_MIN];
    private int[] crc = new int[CAPACITY_MIN];
    private int[] size = new int[CAPACITY_MIN];
    private Object[] payload = new Object[CAPACITY_MIN];
    private int head;
    private int count;
    private long bytes;

    /** How many entries. */
    int count() {
        return count;
    }

    /** Bytes of all payloads in it. */
    long bytes() {
        return bytes;
    }

    boolean isEmpty() {
        return count == 0;
    }

    void add(long firstOffset, long lastOffset, int checksum, int sizeBytes, long maxTimestamp, P entry) {
        Invariant.check(
                count == 0 || last[slot(count - 1)] + 1 == firstOffset, "I-3 the window is contiguous", firstOffset);
        if (count == first.length) {
            grow();
        }
        int at = slot(count++);
        first[at] = firstOffset;
        last[at] = lastOffset;
        crc[at] = checksum;
        size[at] = sizeBytes;
        maxTimestampMs[at] = maxTimestamp;
        payload[at] = entry;
        bytes += sizeBytes;
    }

    /** Takes the oldest entry out. */
    P removeFirst() {
        Invariant.check(count > 0, "the window holds an entry");
        P entry = payload(0);
        payload[head] = null;
        bytes -= size[head];
        head = (head + 1) & (first.length - 1);
        count--;
        return entry;
    }

    long firstOffset(int index) {
        return first[slot(index)];
    }

    long lastOffset(int index) {
        return last[slot(index)];
    }

    int crc(int index) {
        return crc[slot(index)];
    }

    int sizeBytes(int index) {
        return size[slot(index)];
    }

    long maxTimestampMs(int index) {
        return maxTimestampMs[slot(index)];
    }

    @SuppressWarnings("unchecked")
    P payload(int index) {
        return (P) payload[slot(index)];
    }

    private int slot(int index) {
        return (head + index) & (first.length - 1);
    }

    private void grow() {
        int capacity = first.length * 2;
        first = unrolled(first, new long[capacity]);
        last = unrolled(last, new long[capacity]);
        maxTimestampMs = unrolled(maxTimestampMs, new long[capacity]);
        crc = unrolled(crc, new int[capacity]);
        size = unrolled(size, new int[capacity]);
        payload = unrolled(payload, new Object[capacity]);
        head = 0;
    }

    private <T> T unrolled(T from, T to) {
        int tail = count - head; // The ring is full when it grows.
        System.arraycopy(from, head, to, 0, tail);
        System.arraycopy(from, 0, to, tail, head);
        return to;
    }
}
