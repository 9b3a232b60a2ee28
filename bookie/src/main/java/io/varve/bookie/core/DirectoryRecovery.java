package io.varve.bookie.core;

/**
 * What a start makes of a data directory and of the files in it, before {@link JournalRecovery} looks at records. As there: every combination of what the disk says is
 * one case with one decision, and tests enumerate them. Where a directory is mounted plays no part (I-13): two that were swapped are the same two directories.
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

    /** The directory as a whole. */
    public enum DirectoryCase {
        /** An empty directory: it gets an identity. */
        NEW(Decision.FORMAT),
        /** Ours. */
        OURS(Decision.OPEN),
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

    private DirectoryRecovery() {}

    /** The case of a directory. Evidence that doesn't apply does not change it. */
    public static DirectoryCase caseOf(Cookie cookie, Content content, Twin twin) {
        return switch (cookie) {
            case NONE -> content == Content.EMPTY ? DirectoryCase.NEW : DirectoryCase.COOKIE_MISSING;
            case UNREADABLE -> DirectoryCase.COOKIE_UNREADABLE;
            case OTHER_CLUSTER -> DirectoryCase.CLUSTER_DIFFERS;
            case OTHER_BOOKIE -> DirectoryCase.BOOKIE_DIFFERS;
            case OURS -> twin == Twin.NONE ? DirectoryCase.OURS : DirectoryCase.COPY;
        };
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
