package io.varve.bookie.store;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import java.io.IOException;
import java.util.List;

/** Which of a store's directories takes a segment. Safe for any thread. */
final class DirectoryChoice {

    private final List<DirectoryStore> directories;

    DirectoryChoice(List<DirectoryStore> directories) {
        this.directories = directories;
    }

    /**
     * The directory asked for by its incarnation, or with 0 the one with the most room per replica; {@code null} if there is none.
     *
     * @param partition whose segment it is: some are taken where others are refused
     */
    DirectoryStore forNew(long incarnation, PartitionId partition) {
        DirectoryStore best = null;
        for (DirectoryStore store : directories) {
            if (incarnation != 0
                    ? store.incarnation() == incarnation
                    : !store.refuses(partition) && (best == null || hasMoreRoom(store, best))) {
                best = store;
            }
        }
        return best;
    }

    private static boolean hasMoreRoom(DirectoryStore one, DirectoryStore other) {
        return one.freeBytes() / (one.replicas().size() + 1)
                > other.freeBytes() / (other.replicas().size() + 1);
    }

    /** Where a copy of a segment was begun before, or {@code null}. */
    DirectoryStore whereImportWasBegun(SegmentId segment) throws IOException {
        for (DirectoryStore store : directories) {
            if (!store.isFull() && store.disk.exists(SegmentFiles.importing(segment))) {
                return store;
            }
        }
        return null;
    }
}
