package io.varve.bookie.core;

/**
 * What a place in a journal file means, decided from all that the disk says of it. Every combination of evidence has exactly one case; a test enumerates them.
 *
 * <p>What makes the decisions possible: a group is written only after the fsync of the one before it has returned, every record names the place where its group
 * starts, and a file's tag is never used again. So whatever is bad and has a valid record of a <em>later group</em> behind it was durable once, and is damage, never
 * a tail (I-18). What is bad in the last group and has none may be the tail of a write that a power cut tore, and nobody was told that it is durable, except if the
 * group's fsync had returned in the last moment before the crash and the damage came on top of it; that moment ends with the mark that is written when the journal
 * becomes quiet.
 */
public final class JournalRecovery {

    /** What stands where a record's header should be. */
    public enum Head {
        /** Checksum and tag are right. */
        VALID,
        /** Nothing but zeros: never written. */
        ZEROS,
        /** A record with the right checksum of an earlier life of the file. */
        STALE,
        /** Anything else: torn, flipped, or a length or type that can't be. */
        BAD,
        /** The file ends here. */
        BEYOND
    }

    /** Whether a valid head is the one that must come next. */
    public enum Order {
        /** The sequence goes on, and it belongs to the group it should. */
        NEXT,
        /** Another sequence number or another group: something between is missing, or this shouldn't be here. */
        OTHER
    }

    /** What the payload's own checksum says. */
    public enum Payload {
        /** It fits, or there is no payload. */
        INTACT,
        /** It doesn't. */
        BAD
    }

    /** Where we are. */
    public enum Place {
        /** At the first block behind a complete group: a new group may begin. */
        GROUP_START,
        /** Behind a record that isn't the last of its group. */
        WITHIN_GROUP
    }

    /** What stands further on, in this file and all later ones. */
    public enum Later {
        /** No valid record of any later group. */
        NOTHING,
        /** Nothing in this file, and the next one begins with exactly the record that is expected: nothing is missing. */
        NEXT_FILE_CONTINUES,
        /** A valid record of a later group, and it isn't the one expected. */
        LATER_GROUP
    }

    /** What is to be done. */
    public enum Decision {
        /** Apply the record and go on behind it. */
        TAKE,
        /** The journal ends here, cleanly: all that was written was complete. */
        END_CLEAN,
        /** The journal ends here: the rest of the last group was torn by a crash and never acknowledged. */
        END_TORN,
        /** The file ends here and the next one goes on. */
        END_OF_FILE,
        /** The framing is intact, but the payload is damaged: its segment can't be vouched for (UNKNOWN). Go on behind it. */
        SEGMENT_DAMAGED,
        /** Records that were durable are gone, and nobody knows whose: nothing that is not sealed can be vouched for (UNKNOWN). Go on with the later group. */
        JOURNAL_DAMAGED
    }

    private JournalRecovery() {}

    /** The decision for what was found. Evidence that doesn't apply (the order of a head that isn't valid) does not change it. */
    public static Decision decide(Head head, Order order, Payload payload, Place place, Later later) {
        return switch (head) {
            case VALID -> decideValid(order, payload, later);
            case ZEROS, STALE ->
                switch (place) {
                    // Zeros are what a file is made of, stale records what it was used for before: nothing was written
                    // here.
                    case GROUP_START -> endOr(Decision.END_CLEAN, later);
                    case WITHIN_GROUP -> tornOrDamaged(later);
                };
            case BAD ->
                switch (place) {
                    // If nothing is missing, whatever this is was never needed.
                    case GROUP_START -> endOr(Decision.END_TORN, later);
                    case WITHIN_GROUP -> tornOrDamaged(later);
                };
            case BEYOND ->
                switch (place) {
                    case GROUP_START -> endOr(Decision.END_CLEAN, later);
                    // The file was cut off.
                    case WITHIN_GROUP -> tornOrDamaged(later);
                };
        };
    }

    private static Decision endOr(Decision end, Later later) {
        return switch (later) {
            case NOTHING -> end;
            case NEXT_FILE_CONTINUES -> Decision.END_OF_FILE;
            case LATER_GROUP -> Decision.JOURNAL_DAMAGED;
        };
    }

    /** A group was begun, and a part of it is not there: the last thing that was written, or it had been durable. */
    private static Decision tornOrDamaged(Later later) {
        return later == Later.NOTHING ? Decision.END_TORN : Decision.JOURNAL_DAMAGED;
    }

    private static Decision decideValid(Order order, Payload payload, Later later) {
        return switch (order) {
            case NEXT ->
                switch (payload) {
                    case INTACT -> Decision.TAKE;
                    case BAD ->
                        switch (later) {
                            // The header reached the disk and the payload didn't.
                            case NOTHING -> Decision.END_TORN;
                            case LATER_GROUP -> Decision.SEGMENT_DAMAGED;
                            // Two records can't have one number.
                            case NEXT_FILE_CONTINUES -> Decision.JOURNAL_DAMAGED;
                        };
                };
            // A group begins only after the one before it was durable, and within a group the head before this one was
            // valid: whatever is
            // missing in between had been durable.
            case OTHER -> Decision.JOURNAL_DAMAGED;
        };
    }
}
