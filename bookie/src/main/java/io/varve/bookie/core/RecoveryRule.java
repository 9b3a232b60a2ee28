package io.varve.bookie.core;

/** Decides what a place in a journal means. There is one, {@link JournalRecovery#decide}; tests plant others to show that they are found. */
@FunctionalInterface
public interface RecoveryRule {

    /** The decision for what was found. */
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
}
