package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.core.ReclaimPlanner;
import io.varve.bookie.journal.JournalFiles;
import java.io.IOException;

/**
 * What a directory does beside serving, in small steps: keeps journal files ready, writes indexes and snapshots of full ones, gives back those that nobody needs. Belongs to one
 * thread.
 */
final class Housekeeping {

    private static final int FILES_READY = 2;

    /** Kept to be used again, because filling new ones with zeros writes every byte twice. */
    private static final int FILES_FREE_MAX = 8;

    private final DirectoryStore directory;
    private final Runnable wakeJournal;

    Housekeeping(DirectoryStore directory, Runnable wakeJournal) {
        this.directory = directory;
        this.wakeJournal = wakeJournal;
    }

    /**
     * Does one thing that is due.
     *
     * @return whether there may be more
     * @throws IOException if the directory must go out of service (I-12)
     */
    boolean step() throws IOException {
        if (directory.isOutOfService()) {
            return false;
        }
        // A free file is ready at once. Making a new one takes long, and writes every byte a second time: only when
        // nothing else helps.
        if (wantsFile() && directory.files().freeCount() > 0) {
            return prepareFile();
        }
        Snapshot due = directory.pollSnapshot();
        if (due != null) {
            JournalIndexFile.write(
                    directory.disk,
                    directory.incarnation(),
                    due.fileNumber(),
                    directory.replicas().values());
            due.write(directory.disk, directory.incarnation());
            directory.coveredNumber = due.fileNumber();
            directory.measureSpace();
            return true;
        }
        SegmentId deleted = directory.filesToDelete.peek();
        if (deleted != null) {
            directory.settledFiles().forget(deleted);
            directory.disk.delete(SegmentFiles.data(deleted));
            directory.disk.delete(SegmentFiles.index(deleted));
            directory.disk.delete(SegmentFiles.checkpoints(deleted));
            directory.filesToDelete.poll();
            return true;
        }
        if (releaseOne()) {
            return true;
        }
        return wantsFile() && directory.hasRoomForFile() && prepareFile();
    }

    private boolean wantsFile() {
        return directory.files().readyCount() < FILES_READY;
    }

    private boolean prepareFile() throws IOException {
        directory.files().prepare();
        wakeJournal.run();
        return true;
    }

    private boolean releaseOne() throws IOException {
        JournalFiles files = directory.files();
        long number = ReclaimPlanner.releasable(directory.fullFiles(), directory::isNeeded);
        if (number == ReclaimPlanner.NONE) {
            return false;
        }
        directory.disk.delete(JournalIndexFile.name(number));
        if (!files.release(number, files.freeCount() < FILES_FREE_MAX)) {
            return false;
        }
        directory.measureSpace();
        return true;
    }
}
