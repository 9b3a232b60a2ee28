package io.varve.bookie.core;

import io.varve.base.Invariant;
import java.util.Arrays;

/**
 * Where a replica's entries are in the journal: per journal file one run, in order of offset. The rows of a run are in memory as long as its file is being written;
 * later only what is asked for is ({@link RowsSource}), and the run itself says no more than which offsets it holds and where its rows were saved.
 *
 * <p>One thread changes it; any thread may search it meanwhile, for entries that it knows to be there (below the durable end): additions become
 * visible in order, and what is dropped was moved elsewhere before.
 */
public final class SegmentIndex {

    private static final Run[] NONE = new Run[0];

    private volatile Run[] runs = NONE;

    /** Takes what {@link #collect} finds. */
    @FunctionalInterface
    public interface Sink {
        /**
         * @param file the journal file's number
         * @param position of the record in it
         * @param firstOffset the entry's
         * @param entryBytes the entry's length with its header
         */
        void onEntry(long file, long position, long firstOffset, int entryBytes);
    }

    /** Has the rows of runs whose rows are not in memory. */
    @FunctionalInterface
    public interface RowsSource {
        /** The rows; {@code null} if they are gone, because the entries have moved. */
        IndexRows rowsOf(Run run);
    }

    /** The entries of one segment in one file. */
    public static final class Run {
        private final long file;
        private final long firstOffset;
        private volatile long endOffset;
        private volatile IndexRows rows;
        private volatile long savedAt;
        private volatile int savedCount;

        private Run(long file, long firstOffset, IndexRows rows) {
            this.file = file;
            this.firstOffset = firstOffset;
            this.rows = rows;
        }

        /** The journal file's number. */
        public long file() {
            return file;
        }

        /** The first offset in it. */
        public long firstOffset() {
            return firstOffset;
        }

        /** The exclusive end of what is in it. */
        public long endOffset() {
            return endOffset;
        }

        /** The rows, or {@code null} if they are only where they were saved. */
        public IndexRows rows() {
            return rows;
        }

        /** Where in its journal file's index the rows start. */
        public long savedAt() {
            return savedAt;
        }

        /** How many they are. */
        public int savedCount() {
            return savedCount;
        }

        /** The rows are durable elsewhere: from here on they are asked for when they are needed. Nothing is added to the run any more. */
        public void onSaved(long at, int count) {
            savedCount = count;
            savedAt = at;
            rows = null;
        }
    }

    /**
     * Adds the next entry.
     *
     * @return {@code false}, with nothing changed, if it doesn't start where the one before it ended
     */
    public boolean add(long file, long position, long firstOffset, long endOffset, int entryBytes) {
        Run[] now = runs;
        Run last = now.length == 0 ? null : now[now.length - 1];
        if (last != null && last.endOffset != firstOffset) {
            return false;
        }
        if (last == null || last.file != file) {
            Run next = new Run(file, firstOffset, new IndexRows());
            next.rows.add(position, firstOffset, entryBytes);
            next.endOffset = endOffset;
            append(now, next);
        } else {
            last.rows.add(position, firstOffset, entryBytes);
            last.endOffset = endOffset;
        }
        return true;
    }

    /**
     * Adds a run whose rows are saved.
     *
     * @return {@code false}, with nothing changed, if it doesn't start where the one before it ended
     */
    public boolean addSaved(long file, long firstOffset, long endOffset, long savedAt, int savedCount) {
        Run[] now = runs;
        if (now.length > 0 && now[now.length - 1].endOffset != firstOffset) {
            return false;
        }
        Run next = new Run(file, firstOffset, null);
        next.endOffset = endOffset;
        next.onSaved(savedAt, savedCount);
        append(now, next);
        return true;
    }

    private void append(Run[] now, Run next) {
        Invariant.check(
                now.length == 0 || now[now.length - 1].file < next.file,
                "journal files are indexed in order",
                next.file);
        Run[] more = Arrays.copyOf(now, now.length + 1);
        more[now.length] = next;
        runs = more;
    }

    /** Forgets everything. */
    public void clear() {
        runs = NONE;
    }

    /** Forgets all runs that lie wholly below {@code offset}. */
    public void dropBelow(long offset) {
        Run[] now = runs;
        int keepFrom = 0;
        while (keepFrom < now.length && now[keepFrom].endOffset <= offset) {
            keepFrom++;
        }
        if (keepFrom > 0) {
            runs = Arrays.copyOfRange(now, keepFrom, now.length);
        }
    }

    /** The end of the entries in files up to and with {@code file}, or -1 if there are none. */
    public long endInFilesUpTo(long file) {
        long end = -1;
        for (Run run : runs) {
            if (run.file <= file) {
                end = run.endOffset;
            }
        }
        return end;
    }

    /** The first offset that is indexed, or {@link Long#MAX_VALUE} if there is nothing. */
    public long firstOffset() {
        Run[] now = runs;
        return now.length == 0 ? Long.MAX_VALUE : now[0].firstOffset;
    }

    /** The exclusive end of what is indexed, or -1 if there is nothing. */
    public long endOffset() {
        Run[] now = runs;
        return now.length == 0 ? -1 : now[now.length - 1].endOffset;
    }

    /** Whether {@code file} holds an entry of the replica. */
    public boolean isIn(long file) {
        return run(file) != null;
    }

    /** The run of a file, or {@code null}. */
    public Run run(long file) {
        for (Run run : runs) {
            if (run.file == file) {
                return run;
            }
        }
        return null;
    }

    /** Notes the files in which the replica has entries. */
    public void markFiles(NeededFiles needed) {
        for (Run run : runs) {
            needed.add(run.file);
        }
    }

    /**
     * Hands out entries in order, from the one that holds {@code fromOffset} on, as long as they start below {@code belowOffset} and fit.
     *
     * @param bytesMax for the sum of {@code entryBytes}; the first entry comes in any case
     * @param saved asked for the rows that are not in memory
     * @return the sum; 0 if {@code fromOffset} isn't here
     */
    public int collect(long fromOffset, long belowOffset, int bytesMax, RowsSource saved, Sink sink) {
        int bytes = 0;
        for (Run run : runs) {
            if (run.endOffset <= fromOffset) {
                continue;
            }
            if (run.firstOffset >= belowOffset || (bytes > 0 && bytes >= bytesMax)) {
                return bytes;
            }
            IndexRows rows = run.rows;
            if (rows == null) {
                rows = saved.rowsOf(run);
            }
            if (rows == null) {
                return bytes;
            }
            int count = rows.count();
            int at = bytes == 0 ? rows.find(fromOffset, count) : 0;
            if (at < 0) {
                return 0;
            }
            for (; at < count; at++) {
                long first = rows.firstOffset(at);
                int length = rows.entryBytes(at);
                if (first >= belowOffset || (bytes > 0 && length > bytesMax - bytes)) {
                    return bytes;
                }
                sink.onEntry(run.file, rows.position(at), first, length);
                bytes += length;
            }
        }
        return bytes;
    }
}
