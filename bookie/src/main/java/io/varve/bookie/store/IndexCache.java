package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.core.IndexRows;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentIndex;
import io.varve.bookie.core.SegmentIndex.Run;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.journal.JournalFiles;
import io.varve.bookie.journal.JournalScanner;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The indexes of full journal files that are in memory: so many bytes for a directory, the least recently used go first. What isn't here is read from the
 * index file beside the journal file; and should that be damaged, from the journal file itself. Safe for any thread.
 */
final class IndexCache implements SegmentIndex.RowsSource {

    private static final Logger LOG = LoggerFactory.getLogger(IndexCache.class);

    private final DirectoryStore directory;
    private final long bytesMax;
    private final LinkedHashMap<Run, Cached> cached = new LinkedHashMap<>(64, 0.75f, true);
    private long bytes;

    private record Cached(IndexRows rows, long bytes) {}

    IndexCache(DirectoryStore directory, long bytesMax) {
        this.directory = directory;
        this.bytesMax = bytesMax;
    }

    /** The runs of a file were written to its index: their rows are kept here from now on, as long as there is room. Housekeeping thread. */
    void onWritten(List<JournalIndexFile.Written> written) {
        for (JournalIndexFile.Written saved : written) {
            IndexRows rows = saved.run().rows();
            keep(saved.run(), rows);
            saved.run().onSaved(saved.rowsAt(), saved.rows());
        }
    }

    /**
     * @throws UncheckedIOException if the disk can't be read at the moment
     */
    @Override
    public IndexRows rowsOf(Run run) {
        synchronized (this) {
            Cached here = cached.get(run);
            if (here != null) {
                return here.rows;
            }
        }
        // It may have been saved between the caller's look and ours.
        IndexRows rows = run.rows();
        if (rows != null) {
            return rows;
        }
        try {
            rows = load(run);
        } catch (IOException trouble) {
            throw new UncheckedIOException(trouble);
        }
        if (rows != null) {
            keep(run, rows);
        }
        return rows;
    }

    private IndexRows load(Run run) throws IOException {
        try {
            IndexRows rows = JournalIndexFile.readRows(directory.disk, run.file(), run.savedAt(), run.savedCount());
            if (rows != null && isOf(run, rows)) {
                return rows;
            }
        } catch (NoSuchFileException gone) {
            return null;
        }
        directory.shared.metrics.error("index");
        LOG.warn("journal_index=damaged directory={} file={} action=read_journal", directory.disk.name(), run.file());
        return rebuild(run);
    }

    private static boolean isOf(Run run, IndexRows rows) {
        return rows.count() > 0 && rows.firstOffset(0) == run.firstOffset();
    }

    /** Finds the rows of a run in the journal file. */
    private IndexRows rebuild(Run run) throws IOException {
        IndexRows rows = new IndexRows(run.savedCount());
        try (DiskFile file = directory.disk.open(JournalFiles.name(run.file()))) {
            JournalScanner.Source source = JournalScanner.Source.of(run.file(), file, directory.incarnation());
            new JournalScanner(directory.incarnation(), -1, directory.shared.recoveryRule)
                    .scan(source, List.of(), new Collector(segmentOf(run), run, rows));
        } catch (NoSuchFileException gone) {
            return null;
        }
        return rows.count() == 0 ? null : rows;
    }

    private SegmentId segmentOf(Run run) {
        for (Replica replica : directory.replicas().values()) {
            if (replica.index.run(run.file()) == run) {
                return replica.id();
            }
        }
        return new SegmentId(Long.MAX_VALUE);
    }

    private void keep(Run run, IndexRows rows) {
        synchronized (this) {
            Cached before = cached.put(run, new Cached(rows, rows.memoryBytes()));
            bytes += rows.memoryBytes() - (before == null ? 0 : before.bytes);
            Iterator<Cached> eldest = cached.values().iterator();
            while (bytes > bytesMax && eldest.hasNext()) {
                bytes -= eldest.next().bytes;
                eldest.remove();
            }
        }
    }

    /** Memory held. */
    synchronized long bytes() {
        return bytes;
    }

    /** Takes the entries of one segment that belong to a run. */
    private record Collector(SegmentId segment, Run run, IndexRows rows) implements JournalScanner.Visitor {
        @Override
        public void onRecord(RecordType type, ByteBuffer record, int at, long file, long position) {
            if (type == RecordType.ENTRY
                    && Records.segment(record, JournalFormat.fixedAt(at)).equals(segment)) {
                int entry = at + JournalFormat.ENTRY_AT;
                long first = EntryFormat.firstOffset(record, entry);
                if (first >= run.firstOffset() && first < run.endOffset()) {
                    rows.add(position, first, EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(record, entry));
                }
            }
        }

        @Override
        public void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position) {
            // Indexed like any other: whoever reads the entry finds that it is damaged.
            onRecord(type, record, at, file, position);
        }

        @Override
        public void onJournalDamaged(long file, long position) {}
    }
}
