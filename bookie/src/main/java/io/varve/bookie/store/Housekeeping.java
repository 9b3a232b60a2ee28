package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.journal.JournalFiles;
import java.io.IOException;
import java.util.List;

/**
 * What a directory does beside serving, in small steps: keeps journal files ready, writes indexes and snapshots of full ones, gives back those that nobody needs. Belongs to one
 * thread.
 */
final class Housekeeping {

    private static final int FILES_READY = 2;

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
        if (directory.files().readyCount() < FILES_READY) {
            directory.files().prepare();
            wakeJournal.run();
            return true;
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
        return releaseOne();
    }

    private boolean releaseOne() throws IOException {
        JournalFiles files = directory.files();
        List<Long> numbers = files.numbers();
        for (long number : numbers) {
            if (number > directory.coveredNumber) {
                return false;
            }
            if (!isNeeded(number)) {
                directory.disk.delete(JournalIndexFile.name(number));
                boolean keep = files.freeCount() < FILES_READY;
                if (files.release(number, keep)) {
                    directory.measureSpace();
                    return true;
                }
            }
        }
        return false;
    }

    private boolean isNeeded(long number) {
        for (Replica replica : directory.replicas().values()) {
            if (replica.index.isIn(number)) {
                return true;
            }
            for (CheckpointRef checkpoint : replica.checkpoints) {
                if (checkpoint.file() == number) {
                    return true;
                }
            }
        }
        return false;
    }
}
