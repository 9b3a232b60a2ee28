package io.varve.bookie.core;

/** Decides what a start makes of what it finds. There is one, {@link JournalRecovery} and {@link DirectoryRecovery}; tests listen in, or plant others to show that they are found. */
@FunctionalInterface
public interface RecoveryRule {

    /** What a place in a journal means. */
    JournalRecovery.Decision decide(
            JournalRecovery.Head head,
            JournalRecovery.Order order,
            JournalRecovery.Payload payload,
            JournalRecovery.Place place,
            JournalRecovery.Later later);

    /** Whether a record that was taken changes what is known: each does. */
    default boolean applies(RecordType type) {
        return true;
    }

    /** What a directory is. */
    default DirectoryRecovery.DirectoryCase directoryCase(
            DirectoryRecovery.Cookie cookie,
            DirectoryRecovery.Content content,
            DirectoryRecovery.Twin twin,
            DirectoryRecovery.Siblings siblings,
            DirectoryRecovery.Snapshots snapshots) {
        return DirectoryRecovery.caseOf(cookie, content, twin, siblings, snapshots);
    }

    /** What a journal file is. */
    default DirectoryRecovery.FileCase fileCase(
            DirectoryRecovery.Covered covered, DirectoryRecovery.File file, DirectoryRecovery.Index index) {
        return DirectoryRecovery.caseOf(covered, file, index);
    }

    /** What a replica is. */
    default DirectoryRecovery.ReplicaCase replicaCase(
            DirectoryRecovery.Entries entries, DirectoryRecovery.Journal journal, DirectoryRecovery.End end) {
        return DirectoryRecovery.caseOf(entries, journal, end);
    }
}
