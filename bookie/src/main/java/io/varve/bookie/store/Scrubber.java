package io.varve.bookie.store;

import io.netty.buffer.ByteBufAllocator;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.core.SegmentIndex;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.journal.JournalFile;
import io.varve.bookie.journal.JournalScanner;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reads everything there is, over and over, and verifies it, so that damage is found while there are other copies: full journal files from start to end, whosever records
 * they hold, because a segment's own lie scattered among those of others; and then the settled files. Whoever is damaged is quarantined. Belongs to one thread.
 */
final class Scrubber {

    private static final Logger LOG = LoggerFactory.getLogger(Scrubber.class);

    private static final int CHUNK_BYTES = 1024 * 1024;
    /** Read at a time, so that appends never wait long behind a read. */
    private static final int READ_BYTES = 128 * 1024;

    private static final SegmentId FIRST = new SegmentId(1);

    private final DirectoryStore directory;
    private final Pace pace;
    private final SegmentReader reader = new SegmentReader(ByteBufAllocator.DEFAULT);
    /** Journal files up to this one were verified in this round. */
    private long journalUpTo;

    private SegmentId segment = FIRST;
    private long nextOffset = -1;

    Scrubber(DirectoryStore directory, Pace pace) {
        this.directory = directory;
        this.pace = pace;
    }

    /**
     * Verifies one journal file, or a stretch of a settled one.
     *
     * @return whether there is more in this round
     */
    boolean step() {
        for (long number : directory.fullFiles().numbers()) {
            if (number > journalUpTo) {
                journalUpTo = number;
                scrubJournalFile(number);
                return true;
            }
        }
        if (scrubSettled()) {
            return true;
        }
        journalUpTo = 0;
        segment = FIRST;
        nextOffset = -1;
        return false;
    }

    private void scrubJournalFile(long number) {
        JournalFile file = directory.files().get(number);
        if (file == null || !file.pin()) {
            return;
        }
        Found found = new Found();
        try {
            DiskFile paced = new PacedFile(file);
            new JournalScanner(directory.incarnation(), -1, directory.shared.recoveryRule)
                    .scan(JournalScanner.Source.of(number, paced, directory.incarnation()), List.of(), found);
        } catch (Stopped closing) {
            return;
        } catch (IOException unreadable) {
            directory.shared.metrics.error("read");
            LOG.warn("scrub=unreadable directory={} file={} why=\"{}\"", directory.disk.name(), number, unreadable);
            return;
        } finally {
            file.unpin();
        }
        for (Replica replica : directory.replicas().values()) {
            SegmentIndex.Run run = replica.index.run(number);
            if (run != null && (found.damaged || !found.reaches(replica.id(), run.endOffset()))) {
                verifyEntries(replica, run);
            }
        }
    }

    /** Entry by entry, as a reader would find them: the reader quarantines whom it must. */
    private void verifyEntries(Replica replica, SegmentIndex.Run run) {
        long next = run.firstOffset();
        while (replica.isLive() && replica.isIntact() && next < run.endOffset() && next >= replica.settled.end()) {
            next = verifyFrom(replica, next);
            if (next < 0) {
                return;
            }
        }
    }

    /** Where what was verified ends; -1 if it could not be. */
    private long verifyFrom(Replica replica, long offset) {
        ReadReply reply = reader.read(replica, offset, CHUNK_BYTES);
        try {
            if (reply.status() != BookieStatus.OK) {
                return -1;
            }
            directory.shared.metrics.scrubbedBytes.increment(reply.entries().readableBytes());
            return pace.afterBytes(reply.entries().readableBytes())
                    ? SegmentReader.endOf(reply.entries().nioBuffer())
                    : -1;
        } finally {
            reply.entries().release();
        }
    }

    private boolean scrubSettled() {
        Map.Entry<SegmentId, Replica> entry = directory.replicas().ceilingEntry(segment);
        if (entry == null) {
            return false;
        }
        Replica replica = entry.getValue();
        if (nextOffset < 0 || !replica.id().equals(segment)) {
            segment = replica.id();
            nextOffset = replica.state.startOffset();
        }
        if (replica.isLive() && replica.isIntact() && nextOffset < replica.settled.end()) {
            nextOffset = verifyFrom(replica, nextOffset);
            if (nextOffset >= 0) {
                return true;
            }
        }
        segment = new SegmentId(segment.value() + 1);
        nextOffset = -1;
        return true;
    }

    /** What a journal file turned out to hold. */
    private static final class Found implements JournalScanner.Visitor {
        private final Map<SegmentId, Long> ends = new HashMap<>();
        private boolean damaged;

        boolean reaches(SegmentId segment, long end) {
            return ends.getOrDefault(segment, -1L) >= end;
        }

        @Override
        public void onRecord(RecordType type, ByteBuffer record, int at, long file, long position) {
            if (type == RecordType.ENTRY) {
                ends.put(
                        Records.segment(record, JournalFormat.fixedAt(at)),
                        EntryFormat.lastOffset(record, at + JournalFormat.ENTRY_AT) + 1);
            }
        }

        @Override
        public void onSegmentDamaged(RecordType type, ByteBuffer record, int at, long file, long position) {
            damaged = true;
        }

        @Override
        public void onJournalDamaged(long file, long position) {
            damaged = true;
        }
    }

    /** The directory is being closed. */
    private static final class Stopped extends IOException {
        private static final long serialVersionUID = 1L;
    }

    /** A journal file, read little by little. */
    private final class PacedFile implements DiskFile {
        private final JournalFile file;

        PacedFile(JournalFile file) {
            this.file = file;
        }

        @Override
        public int read(ByteBuffer to, long position) throws IOException {
            int start = to.position();
            int limit = to.limit();
            while (to.position() < limit) {
                to.limit(Math.min(limit, to.position() + READ_BYTES));
                int read = file.read(to, position + to.position() - start);
                to.limit(limit);
                if (read == 0) {
                    break;
                }
                directory.shared.metrics.scrubbedBytes.increment(read);
                if (!pace.afterBytes(read)) {
                    throw new Stopped();
                }
            }
            return to.position() - start;
        }

        @Override
        public long size() throws IOException {
            return file.size();
        }

        @Override
        public void write(ByteBuffer from, long position) {
            throw new UnsupportedOperationException("it is only read");
        }

        @Override
        public void force() {
            throw new UnsupportedOperationException("it is only read");
        }

        @Override
        public void truncate(long bytes) {
            throw new UnsupportedOperationException("it is only read");
        }

        @Override
        public void close() {}
    }
}
