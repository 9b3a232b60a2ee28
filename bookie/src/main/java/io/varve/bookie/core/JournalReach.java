package io.varve.bookie.core;

/**
 * How far into a journal file groups of its present life may stand: its reach, kept in the file's last block. A start that finds the end of what was written must know
 * that no later group follows (I-18), and has to look for one up to the reach, instead of through all of a file that was made ahead and of those behind it.
 *
 * <p>The rule: nothing is written beyond a reach that isn't durable. So it is moved ahead of time, along with a group and in its fsync; a step is longer than any ordinary
 * group, so that only a single record larger than that has to wait for a reach of its own. A reach that can't be read means all of the file.
 *
 * @param groupsEnd where the room for groups ends
 * @param groupBytesMax of an ordinary group
 * @param stepBytes how far the reach is moved at a time: what a start reads in vain, at most, against one more block written for so many bytes
 */
public record JournalReach(long groupsEnd, int groupBytesMax, long stepBytes) {

    private static final int STEPS_PER_FILE = 16;

    /** For files of such a length. */
    public static JournalReach of(long fileBytes, int groupBytesMax) {
        long stepBytes = JournalFormat.blockAligned(Math.max(2L * groupBytesMax, fileBytes / STEPS_PER_FILE));
        return new JournalReach(JournalFormat.groupsEnd(fileBytes), groupBytesMax, stepBytes);
    }

    /** Of a file that nothing was written to yet: a first group finds room, and a start doesn't read more than that. */
    public long first() {
        return Math.min(groupsEnd, JournalFormat.BLOCK_BYTES + (long) groupBytesMax);
    }

    /**
     * The reach to be written in the same fsync as a group, so that the next one finds room.
     *
     * @param reach the present one, at least {@code groupEnd}
     * @return {@code reach} if that is enough
     */
    public long along(long groupEnd, long reach) {
        return groupEnd + groupBytesMax <= reach ? reach : Math.min(groupsEnd, groupEnd + stepBytes);
    }
}
