package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.journal.JournalFiles;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;

/**
 * What a directory needs done in the background, one small step at a time: the next journal file, indexes and snapshots, deletions, and journal files that nobody
 * needs any more. Only this touches those files, so that nothing has to be locked. Belongs to one thread.
 */
final class Housekeeping {

    private static final int FILES_READY = 2;

    private final DirectoryStore directory;
    private final Runnable wakeJournal;
    /** Kept to be used again, because filling new ones with zeros writes every byte twice: as many as the journal may grow to. */
    private final long filesFreeMax;

    private final ArrayDeque<Long> releasable = new ArrayDeque<>();
    /** To be released once their readers let go. The scrub takes minutes over a file: the others don't wait for it. */
    private final ArrayDeque<Long> pinned = new ArrayDeque<>();

    private long releasesSeen = -1;
    private long coveredSeen = -1;
    private long indexedNumber;

    Housekeeping(DirectoryStore directory, Runnable wakeJournal) {
        this.directory = directory;
        this.wakeJournal = wakeJournal;
        StoreOptions options = directory.shared.options;
        this.filesFreeMax = Math.max(FILES_READY, options.unsettledBytesMax() / options.journalFileBytes());
    }

    /**
     * Does one thing that is due.
     *
     * @return whether there may be more
     * @throws IOException {@link DirectoryStore#onTrouble trouble} of the directory; what was to be done stays due
     */
    boolean step() throws IOException {
        if (directory.isOutOfService()) {
            return false;
        }
        // A free file is ready at once. Making a new one takes long, and writes every byte a second time: little by
        // little, and only when nothing else helps, so that a full file never waits long for its index and snapshot.
        if (wantsFile() && directory.files().freeCount() > 0) {
            return prepareFile();
        }
        Snapshot due = directory.fullFiles().peekSnapshot();
        if (due != null) {
            if (due.fileNumber() > indexedNumber) {
                // Once only, should the snapshot have to be tried again: what was saved is not in memory any more.
                List<JournalIndexFile.Written> written = JournalIndexFile.write(
                        directory.disk,
                        directory.incarnation(),
                        due.fileNumber(),
                        directory.fullFiles().holders());
                directory.indexes().onWritten(written);
                indexedNumber = due.fileNumber();
            }
            due.write(directory.disk, directory.incarnation());
            directory.fullFiles().onSnapshotWritten(due);
            directory.measureSpace();
            return true;
        }
        if (deleteFilesOfOne() || releaseOne()) {
            return true;
        }
        if (directory.isShortOfSpace() && directory.files().dropFree()) {
            return true;
        }
        return wantsFile() && fillSome();
    }

    private boolean deleteFilesOfOne() throws IOException {
        SegmentId deleted = directory.filesToDelete.peek();
        if (deleted == null) {
            return false;
        }
        if (!directory.holdFiles(deleted)) {
            // The others first.
            directory.filesToDelete.add(directory.filesToDelete.poll());
            return false;
        }
        try {
            if (!directory.replicas().containsKey(deleted)) {
                directory.settledFiles().forget(deleted);
                directory.disk.delete(SegmentFiles.data(deleted));
                directory.disk.delete(SegmentFiles.index(deleted));
                directory.disk.delete(SegmentFiles.checkpoints(deleted));
            }
            directory.filesToDelete.poll();
            return true;
        } finally {
            directory.releaseFiles(deleted);
        }
    }

    private boolean wantsFile() {
        return directory.files().readyCount() < FILES_READY;
    }

    private boolean prepareFile() throws IOException {
        directory.files().prepare();
        wakeJournal.run();
        return true;
    }

    private boolean fillSome() throws IOException {
        JournalFiles files = directory.files();
        if (!files.isFilling() && !directory.hasRoomForFile()) {
            return false;
        }
        files.fillSome();
        return true;
    }

    private boolean releaseOne() throws IOException {
        findReleasable();
        while (!releasable.isEmpty()) {
            directory.disk.delete(JournalIndexFile.name(releasable.peek()));
            if (release(releasable.peek())) {
                releasable.poll();
                return true;
            }
            pinned.add(releasable.poll());
        }
        for (int left = pinned.size(); left > 0; left--) {
            if (release(pinned.peek())) {
                pinned.poll();
                return true;
            }
            pinned.add(pinned.poll());
        }
        return false;
    }

    /** Answers false if a reader has it. */
    private boolean release(long number) throws IOException {
        JournalFiles files = directory.files();
        if (!files.release(number, files.freeCount() < filesFreeMax && !directory.isShortOfSpace())) {
            return false;
        }
        directory.measureSpace();
        return true;
    }

    /** Looks through the replicas, but only if something has been let go of since the last time. */
    private void findReleasable() {
        long releases = directory.fullFiles().releases();
        long covered = directory.fullFiles().coveredNumber();
        if (!releasable.isEmpty() || (releases == releasesSeen && covered == coveredSeen)) {
            return;
        }
        releasesSeen = releases;
        coveredSeen = covered;
        for (long number : directory.fullFiles().needed().unneeded()) {
            if (!pinned.contains(number)) {
                releasable.add(number);
            }
        }
    }
}
