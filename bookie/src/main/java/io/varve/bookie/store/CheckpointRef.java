package io.varve.bookie.store;

import java.util.ArrayList;
import java.util.List;

/**
 * Where a checkpoint of a segment's owner is kept.
 *
 * @param offset the state's
 * @param file the journal file's number, or {@link #SETTLED} for the segment's own checkpoint file
 * @param position of the record in it
 * @param stateBytes the state's length
 */
record CheckpointRef(long offset, long file, long position, int stateBytes) {

    static final long SETTLED = -1;

    /** How many of a segment are kept. */
    static final int KEPT = 2;

    /** The newest ones, oldest first, with one more. */
    static List<CheckpointRef> add(List<CheckpointRef> to, CheckpointRef newest) {
        List<CheckpointRef> all = new ArrayList<>(to);
        all.removeIf(ref -> ref.offset == newest.offset);
        all.add(newest);
        all.sort(java.util.Comparator.comparingLong(CheckpointRef::offset));
        return List.copyOf(all.subList(Math.max(0, all.size() - KEPT), all.size()));
    }
}
