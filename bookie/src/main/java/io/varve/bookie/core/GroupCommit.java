package io.varve.bookie.core;

import io.varve.base.Invariant;

/**
 * Where the next record goes: into the group that forms, into the next one, or into the next file.
 *
 * <p>There is no timer: a group is closed by whoever writes it, when the fsync before it has returned. So a lone append waits for nothing, and
 * under load a group holds what arrived during one fsync.
 */
public final class GroupCommit {

    /** Where a record fits. */
    public enum Placement {
        /** Into the group that forms. */
        THIS_GROUP,
        /** The group that forms is full: into the one after it. */
        NEXT_GROUP,
        /** The file is full. */
        NEXT_FILE
    }

    private final int groupBytesMax;
    private final long groupsEnd;
    private long groupStart;
    private long position;
    private long sequence;

    /**
     * @param groupsEnd where the room for groups ends in a file
     * @param sequence of the first record that will be written
     */
    public GroupCommit(int groupBytesMax, long groupsEnd, long sequence) {
        this.groupBytesMax = groupBytesMax;
        this.groupsEnd = groupsEnd;
        this.sequence = sequence;
        onFileOpened();
    }

    /** A new file: its first group starts behind the header. */
    public void onFileOpened() {
        groupStart = JournalFormat.BLOCK_BYTES;
        position = groupStart;
    }

    /**
     * Where a record fits.
     *
     * @param bytes its aligned length
     * @param roomBytes what the memory of the forming group still takes
     */
    public Placement place(int bytes, int roomBytes) {
        if (JournalFormat.blockAligned(position + bytes) > groupsEnd) {
            return Placement.NEXT_FILE;
        }
        boolean fits = bytes <= roomBytes && position + bytes - groupStart <= groupBytesMax;
        return fits || position == groupStart ? Placement.THIS_GROUP : Placement.NEXT_GROUP;
    }

    /**
     * A record was put into the forming group.
     *
     * @return its sequence number
     */
    public long onRecord(int bytes) {
        position += bytes;
        Invariant.check(position <= groupsEnd, "a journal file is not overrun", position, groupsEnd);
        return sequence++;
    }

    /** The forming group is on its way to the disk: the next one starts at the next block. */
    public void onGroupClosed() {
        position = JournalFormat.blockAligned(position);
        groupStart = position;
    }

    /** Where the forming group starts in its file. */
    public long groupStart() {
        return groupStart;
    }

    /** Where the next record goes. */
    public long position() {
        return position;
    }

    /** The number of the next record. */
    public long sequence() {
        return sequence;
    }
}
