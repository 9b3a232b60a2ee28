package io.varve.bookie.core;

import java.util.Arrays;

/** Where, roughly, offsets are in a settled file: one point about every {@link #STEP_BYTES}. Not safe for use by several threads while it grows. */
public final class SparseIndex {

    /** Distance of the points; a read starts at most this far before what it looks for. */
    public static final int STEP_BYTES = 128 * 1024;

    private long[] offsets = new long[8];
    private long[] positions = new long[8];
    private int count;
    private long coveredBytes;

    /** An entry follows the ones before it. */
    public void onEntry(long firstOffset, int entryBytes) {
        if (count == 0 || coveredBytes - positions[count - 1] >= STEP_BYTES) {
            addPoint(firstOffset, coveredBytes);
        }
        coveredBytes += entryBytes;
    }

    /** A point as it was saved. */
    public void addPoint(long firstOffset, long position) {
        if (count == offsets.length) {
            offsets = Arrays.copyOf(offsets, count * 2);
            positions = Arrays.copyOf(positions, count * 2);
        }
        offsets[count] = firstOffset;
        positions[count++] = position;
    }

    /** Says how far the points that were added reach. */
    public void cover(long bytes) {
        coveredBytes = bytes;
    }

    /** Bytes of entries that it knows of. */
    public long coveredBytes() {
        return coveredBytes;
    }

    /** The position of an entry at or before the one that holds {@code offset}; positions count from the first entry. */
    public long positionBefore(long offset) {
        int at = Arrays.binarySearch(offsets, 0, count, offset);
        int point = at >= 0 ? at : -at - 2;
        return point < 0 ? 0 : positions[point];
    }

    /** How many points there are. */
    public int count() {
        return count;
    }

    /** A point's offset. */
    public long offset(int point) {
        return offsets[point];
    }

    /** A point's position. */
    public long position(int point) {
        return positions[point];
    }

    /** The same, to be changed apart. */
    public SparseIndex copy() {
        SparseIndex copy = new SparseIndex();
        copy.offsets = offsets.clone();
        copy.positions = positions.clone();
        copy.count = count;
        copy.coveredBytes = coveredBytes;
        return copy;
    }
}
