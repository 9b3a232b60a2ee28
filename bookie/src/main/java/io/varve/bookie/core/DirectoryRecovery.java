package io.varve.bookie.core;

/**
 * What a start makes of a data directory, of the files in it, before {@link JournalRecovery} looks at records, and of each replica, after it has. As there: every
 * combination of what the disk says is one case with one decision, tests enumerate them, and for each case there is a real directory in the tests that shows it. Where a directory is mounted plays no part (I-13): two that were swapped are the same two directories.
 */
public final class DirectoryRecovery {

    /** What stands in the place of the cookie. */
    public enum Cookie {
        /** No cookie. */
        NONE,
        /** One that can't be read: not text of ours, another format, a checksum that doesn't fit. */
        UNREADABLE,
        /** One of another cluster. */
        OTHER_CLUSTER,
        /** One of another bookie of this cluster. */
        OTHER_BOOKIE,
        /** This bookie's. */
        OURS
    }

    /** What else is in the directory. */
    public enum Content {
        /** Nothing, or what an interrupted {@link Decision#FORMAT} leaves. */
        EMPTY,
        /** Files. */
        FILES
    }

    /** Whether another directory has the same incarnation. */
    public enum Twin {
        /** It is the only one. */
        NONE,
        /** One of the two is a copy of the other. */
        SAME_INCARNATION
    }

    /** What has become of the other directories that this bookie ever had. */
    public enum Siblings {
        /** All are here. */
        COMPLETE,
        /** One or more are not. */
        INCOMPLETE
    }

    /** Whether a snapshot can be read. */
    public enum Snapshots {
        /** At least one. */
        READABLE,
        /** None. */
        NONE
    }

    /** The directory as a whole. */
    public enum DirectoryCase {
        /** An empty directory: it gets an identity. */
        NEW(Decision.FORMAT),
        /** Ours, and all others are here too. */
        OURS(Decision.OPEN),
        /** Ours, but another one is gone, with whatever it held: for what isn't here nobody can speak any more (I-5). */
        SIBLING_LOST(Decision.OPEN_IN_DOUBT),
        /** Ours, but what it held before its journal files is not to be found out. */
        SNAPSHOT_LOST(Decision.REFUSE),
        /** Data of nobody knows whom: a cookie is written last when a directory is made ready, and never deleted. */
        COOKIE_MISSING(Decision.REFUSE),
        /** Nobody can tell whose it is. */
        COOKIE_UNREADABLE(Decision.REFUSE),
        /** It holds other people's data. */
        CLUSTER_DIFFERS(Decision.REFUSE),
        /** Its fences and ends are another bookie's promises. */
        BOOKIE_DIFFERS(Decision.REFUSE),
        /** Two directories with one history: which of them went on with it nobody knows. */
        COPY(Decision.REFUSE);

        private final Decision decision;

        DirectoryCase(Decision decision) {
            this.decision = decision;
        }

        /** What is to be done. */
        public Decision decision() {
            return decision;
        }
    }

    /** What is to be done with a directory. */
    public enum Decision {
        /** Make it ready, under a new incarnation. */
        FORMAT,
        /** Load it. */
        OPEN,
        /** Load it, and answer UNKNOWN for all that isn't found. */
        OPEN_IN_DOUBT,
        /** Don't start. */
        REFUSE
    }

    /** Whether the newest snapshot that could be read stands for a journal file. */
    public enum Covered {
        /** All but the entries in it. */
        YES,
        /** The file is younger than it. */
        NO
    }

    /** What there is of a journal file. */
    public enum File {
        /** With the header that its name says. */
        INTACT,
        /** With another header. A file gets its name only when its header is durable. */
        HEADER_WRONG,
        /** Numbers have no gaps, and one is missing. */
        MISSING
    }

    /** What there is of a journal file's index. */
    public enum Index {
        /** Checksum, incarnation and number fit. */
        INTACT,
        /** Anything else. */
        NONE
    }

    /** One journal file. */
    public enum FileCase {
        /** Full, and its index says where everything is. */
        INDEXED,
        /** Full, and where its entries are has to be found out again. */
        INDEX_MISSING,
        /** Full, needed by nobody any more, and gone; or gone for another reason: whoever has entries in it lacks them. */
        GONE,
        /** Younger than the snapshot: record by record. */
        TO_BE_SCANNED,
        /** Younger than the snapshot, and the journal has lost records: nobody knows whose. */
        LOST
    }

    /** What the start has found of a replica's entries. */
    public enum Entries {
        /** Each is in the journal or in the segment's own file. */
        COMPLETE,
        /** The segment's own file isn't there, or is shorter than what was settled. */
        SETTLED_FILE_SHORT,
        /** What isn't settled is not, or not all, in the journal. */
        JOURNAL_FILE_GONE
    }

    /** Whether records that were durable are missing, nobody knows whose. */
    public enum Journal {
        /** No. */
        WHOLE,
        /** Yes. */
        DAMAGED
    }

    /** Whether a replica's end is beyond doubt. */
    public enum End {
        /** It was sealed, and ends there. */
        SEALED,
        /** More may have been appended. */
        OPEN
    }

    /** One replica. */
    public enum ReplicaCase {
        /** All of it is here. */
        INTACT(true),
        /** A part that was durable is gone with the segment's own file. */
        SETTLED_FILE_LOST(false),
        /** A part that was durable is gone with a journal file. */
        ENTRIES_LOST(false),
        /** What is missing in the journal may have been this segment's. */
        END_IN_DOUBT(false);

        private final boolean vouchedFor;

        ReplicaCase(boolean vouchedFor) {
            this.vouchedFor = vouchedFor;
        }

        /** Whether the bookie says what it has of it; else it says UNKNOWN (I-5). */
        public boolean isVouchedFor() {
            return vouchedFor;
        }
    }

    private DirectoryRecovery() {}

    /** The case of a replica. Evidence that doesn't apply does not change it. */
    public static ReplicaCase caseOf(Entries entries, Journal journal, End end) {
        return switch (entries) {
            case SETTLED_FILE_SHORT -> ReplicaCase.SETTLED_FILE_LOST;
            case JOURNAL_FILE_GONE -> ReplicaCase.ENTRIES_LOST;
            case COMPLETE ->
                journal == Journal.DAMAGED && end == End.OPEN ? ReplicaCase.END_IN_DOUBT : ReplicaCase.INTACT;
        };
    }

    /** The case of a directory. Evidence that doesn't apply does not change it. */
    public static DirectoryCase caseOf(
            Cookie cookie, Content content, Twin twin, Siblings siblings, Snapshots snapshots) {
        return switch (cookie) {
            case NONE -> content == Content.EMPTY ? DirectoryCase.NEW : DirectoryCase.COOKIE_MISSING;
            case UNREADABLE -> DirectoryCase.COOKIE_UNREADABLE;
            case OTHER_CLUSTER -> DirectoryCase.CLUSTER_DIFFERS;
            case OTHER_BOOKIE -> DirectoryCase.BOOKIE_DIFFERS;
            case OURS -> twin == Twin.NONE ? ours(siblings, snapshots) : DirectoryCase.COPY;
        };
    }

    private static DirectoryCase ours(Siblings siblings, Snapshots snapshots) {
        if (snapshots == Snapshots.NONE) {
            return DirectoryCase.SNAPSHOT_LOST;
        }
        return siblings == Siblings.COMPLETE ? DirectoryCase.OURS : DirectoryCase.SIBLING_LOST;
    }

    /** The case of a journal file. Evidence that doesn't apply does not change it. */
    public static FileCase caseOf(Covered covered, File file, Index index) {
        return switch (covered) {
            case YES ->
                switch (file) {
                    // A full file is only read where an index, or a checksum, says that something is.
                    case INTACT, HEADER_WRONG -> index == Index.INTACT ? FileCase.INDEXED : FileCase.INDEX_MISSING;
                    case MISSING -> FileCase.GONE;
                };
            case NO -> file == File.INTACT ? FileCase.TO_BE_SCANNED : FileCase.LOST;
        };
    }
}
