package io.varve.bookie.store;

import io.varve.bookie.core.NeededFiles;
import io.varve.bookie.journal.JournalFiles;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;

/** The full journal files of a directory: whose snapshots are due, which have theirs, and which of them still hold something that isn't elsewhere. Safe for any thread. */
final class FullFiles {

    private final JournalFiles files;
    private final Collection<Replica> replicas;
    private final long fileBytes;
    private final ConcurrentLinkedQueue<Snapshot> snapshotsDue = new ConcurrentLinkedQueue<>();
    /** Replaced by copies that aren't durable yet: until they are, a crash would bring these back. */
    private final ConcurrentLinkedQueue<Replica> retained = new ConcurrentLinkedQueue<>();

    private final AtomicLong releases = new AtomicLong();
    private volatile long coveredNumber;

    /** @param replicas of the directory, at any time */
    FullFiles(JournalFiles files, Collection<Replica> replicas, long fileBytes) {
        this.files = files;
        this.replicas = replicas;
        this.fileBytes = fileBytes;
    }

    /** A file is full and durable, and this is what it leaves behind. */
    void onFull(Snapshot snapshot) {
        snapshotsDue.add(snapshot);
    }

    /** The next snapshot to be written, or {@code null}. */
    Snapshot peekSnapshot() {
        return snapshotsDue.peek();
    }

    /** It is durable, and so is the index of its file. */
    void onSnapshotWritten(Snapshot snapshot) {
        snapshotsDue.remove(snapshot);
        coveredNumber = snapshot.fileNumber();
    }

    /** A snapshot stands for all files up to this one. */
    void setCovered(long number) {
        coveredNumber = number;
    }

    /** Everything in journal files up to this one, but for the entries, is in a snapshot. */
    long coveredNumber() {
        return coveredNumber;
    }

    /** Something in journal files is no longer needed. */
    void onReleased() {
        releases.incrementAndGet();
    }

    /** Changes when something in journal files is no longer needed. */
    long releases() {
        return releases.get();
    }

    /** A copy took a replica's place, but isn't durable yet. */
    void retain(Replica replaced) {
        retained.add(replaced);
    }

    /** The copy is durable. */
    void letGo(Replica replaced) {
        retained.remove(replaced);
        onReleased();
    }

    /** Who may have entries in them: all replicas that are here, and those that a crash would bring back. */
    List<Replica> holders() {
        List<Replica> all = new ArrayList<>(retained);
        all.addAll(replicas);
        return all;
    }

    /** The files that are full and indexed, oldest first. */
    List<Long> numbers() {
        List<Long> full = new ArrayList<>();
        for (long number : files.numbers()) {
            if (number <= coveredNumber) {
                full.add(number);
            }
        }
        return full;
    }

    /** Bytes of all of them. */
    long backlogBytes() {
        return numbers().size() * fileBytes;
    }

    /** Which of them hold something that isn't elsewhere: one pass over all replicas. */
    NeededFiles needed() {
        NeededFiles needed = new NeededFiles(numbers());
        for (Replica replica : holders()) {
            if (needed.areAll()) {
                break;
            }
            replica.markFiles(needed);
        }
        return needed;
    }
}
