package io.varve.bookie.core;

import java.util.Arrays;

/**
 * Where the entries of one segment are in one journal file: sixteen bytes an entry, in order of offset. One thread adds; any thread may search meanwhile: {@code
 * count} is written last, so that whoever reads it sees the rest.
 */
public final class IndexRows {

    /** Memory per entry. */
    public static final int ROW_BYTES = 16;

    private static final int ROOM_MIN = 4;

    private long[] firsts;
    private int[] units;
    private int[] lengths;
    private volatile int count;

    /** Empty. */
    public IndexRows() {
        this(ROOM_MIN);
    }

    /** Empty, with room for so many entries. */
    public IndexRows(int room) {
        firsts = new long[room];
        units = new int[room];
        lengths = new int[room];
    }

    /**
     * Adds the next entry.
     *
     * @param position of the record in the file
     * @param entryBytes the entry's length with its header
     */
    public void add(long position, long firstOffset, int entryBytes) {
        int at = count;
        if (at == firsts.length) {
            int room = at + (at >> 1) + ROOM_MIN;
            firsts = Arrays.copyOf(firsts, room);
            units = Arrays.copyOf(units, room);
            lengths = Arrays.copyOf(lengths, room);
        }
        firsts[at] = firstOffset;
        units[at] = (int) (position / JournalFormat.RECORD_ALIGNMENT);
        lengths[at] = entryBytes;
        count = at + 1;
    }

    /** How many there are. */
    public int count() {
        return count;
    }

    /** An entry's first offset; rows below a {@link #count} that was read before. */
    public long firstOffset(int row) {
        return firsts[row];
    }

    /** Where its record starts. */
    public long position(int row) {
        return (long) units[row] * JournalFormat.RECORD_ALIGNMENT;
    }

    /** Its length with its header. */
    public int entryBytes(int row) {
        return lengths[row];
    }

    /** The row of the entry that holds {@code offset} among the first {@code within}, or -1 if it lies before all of them. */
    public int find(long offset, int within) {
        int at = Arrays.binarySearch(firsts, 0, within, offset);
        return at >= 0 ? at : -at - 2;
    }

    /** Memory held. */
    public long memoryBytes() {
        return (long) firsts.length * ROW_BYTES;
    }
}
