package io.varve.bookie.core;

import io.varve.base.Invariant;
import java.util.Arrays;

/**
 * Where a replica's entries are in the journal: per journal file one run of arrays, in order of offset. Sixteen bytes an entry.
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
            Invariant.check(last == null || last.file < file, "journal files are indexed in order", file);
            last = new Run(file);
            Run[] more = Arrays.copyOf(now, now.length + 1);
            more[now.length] = last;
            last.add(position, firstOffset, endOffset, entryBytes);
            runs = more;
        } else {
            last.add(position, firstOffset, endOffset, entryBytes);
        }
        return true;
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

    /** The lowest file that holds an entry at or above {@code offset}, or {@link Long#MAX_VALUE}. */
    public long firstFileFrom(long offset) {
        for (Run run : runs) {
            if (run.endOffset > offset) {
                return run.file;
            }
        }
        return Long.MAX_VALUE;
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
        return now.length == 0 ? Long.MAX_VALUE : now[0].firsts[0];
    }

    /** The exclusive end of what is indexed, or -1 if there is nothing. */
    public long endOffset() {
        Run[] now = runs;
        return now.length == 0 ? -1 : now[now.length - 1].endOffset;
    }

    /** Whether {@code file} holds an entry of the replica. */
    public boolean isIn(long file) {
        return endInFile(file) >= 0;
    }

    /**
     * Hands out entries in order, from the one that holds {@code fromOffset} on, as long as they start below {@code belowOffset} and fit.
     *
     * @param bytesMax for the sum of {@code entryBytes}; the first entry comes in any case
     * @return the sum; 0 if {@code fromOffset} isn't here
     */
    public int collect(long fromOffset, long belowOffset, int bytesMax, Sink sink) {
        int bytes = 0;
        for (Run run : runs) {
            if (run.endOffset <= fromOffset) {
                continue;
            }
            int count = run.count;
            int at = bytes == 0 ? run.find(fromOffset, count) : 0;
            if (at < 0) {
                return 0;
            }
            for (; at < count; at++) {
                long first = run.firsts[at];
                int length = run.lengths[at];
                if (first >= belowOffset || (bytes > 0 && length > bytesMax - bytes)) {
                    return bytes;
                }
                sink.onEntry(run.file, (long) run.units[at] * JournalFormat.RECORD_ALIGNMENT, first, length);
                bytes += length;
            }
        }
        return bytes;
    }

    /** Hands out every entry that is in {@code file}. */
    public int collectFile(long file, Sink sink) {
        for (Run run : runs) {
            if (run.file == file) {
                int count = run.count;
                for (int at = 0; at < count; at++) {
                    sink.onEntry(
                            file,
                            (long) run.units[at] * JournalFormat.RECORD_ALIGNMENT,
                            run.firsts[at],
                            run.lengths[at]);
                }
                return count;
            }
        }
        return 0;
    }

    /** The exclusive end of what is in {@code file}, or -1. */
    public long endInFile(long file) {
        for (Run run : runs) {
            if (run.file == file) {
                return run.endOffset;
            }
        }
        return -1;
    }

    /** The entries of one segment in one file. {@code count} is written last, so that whoever reads it sees the rest. */
    private static final class Run {
        final long file;
        long[] firsts = new long[4];
        int[] units = new int[4];
        int[] lengths = new int[4];
        volatile long endOffset;
        volatile int count;

        Run(long file) {
            this.file = file;
        }

        void add(long position, long firstOffset, long end, int entryBytes) {
            int at = count;
            if (at == firsts.length) {
                int room = at + (at >> 1) + 4;
                firsts = Arrays.copyOf(firsts, room);
                units = Arrays.copyOf(units, room);
                lengths = Arrays.copyOf(lengths, room);
            }
            firsts[at] = firstOffset;
            units[at] = (int) (position / JournalFormat.RECORD_ALIGNMENT);
            lengths[at] = entryBytes;
            count = at + 1;
            endOffset = end;
        }

        /** The place of the entry that holds {@code offset}, or -1 if it lies before the first. */
        int find(long offset, int within) {
            int at = Arrays.binarySearch(firsts, 0, within, offset);
            return at >= 0 ? at : -at - 2;
        }
    }
}
