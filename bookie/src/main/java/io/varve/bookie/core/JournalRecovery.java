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

    /**
     * Every case there is, by name. Each combination of evidence is exactly one of them, and for each there is a disk in the tests on which a start meets it.
     */
    public enum Case {
        /** What should come next is there, whole. */
        RECORD(Decision.TAKE),
        /** Its head reached the disk and its payload didn't, and nothing was written later: never acknowledged. */
        PAYLOAD_TORN(Decision.END_TORN),
        /** It was durable, as what follows shows, and its payload has changed since. Its head says whose it is. */
        PAYLOAD_DAMAGED(Decision.SEGMENT_DAMAGED),
        /** A damaged payload, and another record of the same number in the next file: nothing that this journal can have written. */
        NUMBER_TWICE(Decision.JOURNAL_DAMAGED),
        /** A whole record that isn't the next one. A group begins only when the one before it is durable, so what is missing in between had been durable. */
        OUT_OF_ORDER(Decision.JOURNAL_DAMAGED),
        /** Zeros behind the last whole group: nothing was written there yet. */
        UNWRITTEN(Decision.END_CLEAN),
        /** What the file held in an earlier life, behind the last whole group: nothing was written there in this one. */
        EARLIER_LIFE(Decision.END_CLEAN),
        /** A head that is neither whole nor of an earlier life, behind the last whole group, and nothing later: the first write of a group, torn. */
        GROUP_HEAD_TORN(Decision.END_TORN),
        /** The last block of the last file belongs to a whole group. */
        LAST_BYTE(Decision.END_CLEAN),
        /** The next file begins with the number that comes next: whatever is left of this one was never written, or never needed. */
        NEXT_FILE(Decision.END_OF_FILE),
        /** A later group stands further on, and one or more before it are not there. */
        GROUP_MISSING(Decision.JOURNAL_DAMAGED),
        /** The file ends, and a later one doesn't begin where this one should go on: a file between them is gone, or this one was cut off. */
        FILE_MISSING(Decision.JOURNAL_DAMAGED),
        /** A group was begun, a part of it isn't there, and nothing was written later: the power went while it was on its way. */
        GROUP_TORN(Decision.END_TORN),
        /** A part of a group isn't there although later ones are: it had been durable. */
        GROUP_DAMAGED(Decision.JOURNAL_DAMAGED);

        private final Decision decision;

        Case(Decision decision) {
            this.decision = decision;
        }

        /** What is to be done. */
        public Decision decision() {
            return decision;
        }
    }

    private JournalRecovery() {}

    /** The decision for what was found. */
    public static Decision decide(Head head, Order order, Payload payload, Place place, Later later) {
        return caseOf(head, order, payload, place, later).decision();
    }

    /** The case for what was found. Evidence that doesn't apply (the order of a head that isn't valid) does not change it. */
    public static Case caseOf(Head head, Order order, Payload payload, Place place, Later later) {
        if (head == Head.VALID) {
            return order == Order.OTHER ? Case.OUT_OF_ORDER : inOrder(payload, later);
        }
        return switch (place) {
            case GROUP_START -> atGroupStart(head, later);
            case WITHIN_GROUP -> later == Later.NOTHING ? Case.GROUP_TORN : Case.GROUP_DAMAGED;
        };
    }

    private static Case inOrder(Payload payload, Later later) {
        return switch (payload) {
            case INTACT -> Case.RECORD;
            case BAD ->
                switch (later) {
                    case NOTHING -> Case.PAYLOAD_TORN;
                    case LATER_GROUP -> Case.PAYLOAD_DAMAGED;
                    case NEXT_FILE_CONTINUES -> Case.NUMBER_TWICE;
                };
        };
    }

    private static Case atGroupStart(Head head, Later later) {
        return switch (later) {
            case NEXT_FILE_CONTINUES -> Case.NEXT_FILE;
            case LATER_GROUP -> head == Head.BEYOND ? Case.FILE_MISSING : Case.GROUP_MISSING;
            case NOTHING ->
                switch (head) {
                    case ZEROS -> Case.UNWRITTEN;
                    case STALE -> Case.EARLIER_LIFE;
                    case BEYOND -> Case.LAST_BYTE;
                    case BAD, VALID -> Case.GROUP_HEAD_TORN;
                };
        };
    }
}
