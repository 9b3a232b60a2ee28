package io.varve.bookie.net;

/** The ends and sizes of the entries that the store has not answered, in the order in which they were handed to it. One owner. */
final class PendingEntries {

    private static final int CAPACITY_MIN = 16;

    private long[] ends = new long[CAPACITY_MIN];
    private int[] sizes = new int[CAPACITY_MIN];
    private int head;
    private int count;

    void add(long end, int bytes) {
        if (count == ends.length) {
            grow();
        }
        int at = head + count & ends.length - 1;
        ends[at] = end;
        sizes[at] = bytes;
        count++;
    }

    /** Forgets the entries that end at or below {@code end}, and says how many bytes they had. */
    int removeBelow(long end) {
        int bytes = 0;
        while (count > 0 && ends[head] <= end) {
            bytes += removeFirst();
        }
        return bytes;
    }

    /** Forgets the last entry, and says how many bytes it had; 0 if there is none. */
    int removeLast() {
        if (count == 0) {
            return 0;
        }
        count--;
        return sizes[head + count & ends.length - 1];
    }

    boolean isEmpty() {
        return count == 0;
    }

    private int removeFirst() {
        int bytes = sizes[head];
        head = head + 1 & ends.length - 1;
        count--;
        return bytes;
    }

    private void grow() {
        long[] moreEnds = new long[ends.length * 2];
        int[] moreSizes = new int[ends.length * 2];
        for (int i = 0; i < count; i++) {
            moreEnds[i] = ends[head + i & ends.length - 1];
            moreSizes[i] = sizes[head + i & ends.length - 1];
        }
        ends = moreEnds;
        sizes = moreSizes;
        head = 0;
    }
}
