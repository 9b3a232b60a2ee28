package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.SegmentIndex;
import io.varve.bookie.journal.JournalFile;
import io.varve.bookie.journal.JournalFiles;
import io.varve.bookie.journal.RecentGroups;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Reads a replica's entries out of the journal: from memory if they are recent, else from the files, with few reads where the entries lie close together. Safe for any
 * thread, if the allocator is.
 */
final class JournalReader {

    /** Bytes of others that are read along rather than reading twice. */
    private static final int GAP_BYTES = 16 * 1024;

    private static final int RUN_BYTES_MAX = 1024 * 1024;

    private final JournalFiles files;
    private final RecentGroups recent;
    private final IndexCache indexes;
    private final StoreMetrics metrics;

    JournalReader(JournalFiles files, RecentGroups recent, IndexCache indexes, StoreMetrics metrics) {
        this.files = files;
        this.recent = recent;
        this.indexes = indexes;
        this.metrics = metrics;
    }

    /** Where entries are; made by one search of the index. */
    static final class Plan implements SegmentIndex.Sink {
        long[] fileNumbers = new long[16];
        long[] positions = new long[16];
        int[] lengths = new int[16];
        int count;
        int bytes;

        @Override
        public void onEntry(long file, long position, long firstOffset, int entryBytes) {
            if (count == lengths.length) {
                fileNumbers = Arrays.copyOf(fileNumbers, count * 2);
                positions = Arrays.copyOf(positions, count * 2);
                lengths = Arrays.copyOf(lengths, count * 2);
            }
            fileNumbers[count] = file;
            positions[count] = position + JournalFormat.ENTRY_AT;
            lengths[count++] = entryBytes;
            bytes += entryBytes;
        }
    }

    /**
     * Where entries are, from the one that holds {@code fromOffset} on, below {@code belowOffset}, as many as fit; the first in any case.
     *
     * @return {@code null} if they aren't in the journal
     */
    Plan plan(SegmentIndex index, long fromOffset, long belowOffset, int maxBytes) throws IOException {
        Plan plan = new Plan();
        try {
            return index.collect(fromOffset, belowOffset, maxBytes, indexes, plan) == 0 ? null : plan;
        } catch (UncheckedIOException trouble) {
            throw trouble.getCause();
        }
    }

    /**
     * The entries of a plan, one behind the other, unverified.
     *
     * @return the caller's to release; {@code null} if one of the files isn't there any more, because the entries have moved
     */
    ByteBuf read(Plan plan, ByteBufAllocator allocator) throws IOException {
        ByteBuf to = allocator.directBuffer(plan.bytes, plan.bytes);
        boolean complete = false;
        try {
            int at = 0;
            while (at < plan.count) {
                int end = endOfRun(plan, at);
                if (!readRun(plan, at, end, to)) {
                    return null;
                }
                at = end;
            }
            complete = true;
            return to;
        } finally {
            if (!complete) {
                to.release();
            }
        }
    }

    private static int endOfRun(Plan plan, int from) {
        int at = from + 1;
        while (at < plan.count
                && plan.fileNumbers[at] == plan.fileNumbers[from]
                && plan.positions[at] - (plan.positions[at - 1] + plan.lengths[at - 1]) <= GAP_BYTES
                && plan.positions[at] + plan.lengths[at] - plan.positions[from] <= RUN_BYTES_MAX) {
            at++;
        }
        return at;
    }

    private boolean readRun(Plan plan, int from, int end, ByteBuf to) throws IOException {
        if (end == from + 1) {
            int bytes = plan.lengths[from];
            ByteBuffer target = to.internalNioBuffer(to.writerIndex(), bytes);
            if (!fill(plan.fileNumbers[from], plan.positions[from], bytes, target)) {
                return false;
            }
            to.writerIndex(to.writerIndex() + bytes);
            return true;
        }
        long start = plan.positions[from];
        int bytes = (int) (plan.positions[end - 1] + plan.lengths[end - 1] - start);
        ByteBuf run = to.alloc().directBuffer(bytes, bytes);
        try {
            if (!fill(plan.fileNumbers[from], start, bytes, run.internalNioBuffer(0, bytes))) {
                return false;
            }
            run.writerIndex(bytes);
            for (int at = from; at < end; at++) {
                to.writeBytes(run, (int) (plan.positions[at] - start), plan.lengths[at]);
            }
            return true;
        } finally {
            run.release();
        }
    }

    private boolean fill(long fileNumber, long position, int bytes, ByteBuffer to) throws IOException {
        if (recent.copy(fileNumber, position, bytes, to)) {
            metrics.readRecentBytes.increment(bytes);
            return true;
        }
        JournalFile file = files.get(fileNumber);
        if (file == null || !file.pin()) {
            return false;
        }
        try {
            if (file.read(to, position) != bytes) {
                throw new DamagedFileException("journal file " + fileNumber + " ends before " + (position + bytes));
            }
            metrics.readJournalBytes.increment(bytes);
            return true;
        } finally {
            file.unpin();
        }
    }

    /** A checkpoint's record, unverified; as {@link #read}. */
    ByteBuf readCheckpoint(CheckpointRef ref, ByteBufAllocator allocator) throws IOException {
        int bytes = JournalFormat.RECORD_HEADER_BYTES
                + io.varve.bookie.core.RecordType.CHECKPOINT.fixedBytes()
                + ref.stateBytes();
        ByteBuf record = allocator.directBuffer(bytes, bytes);
        boolean complete = false;
        try {
            if (!fill(ref.file(), ref.position(), bytes, record.internalNioBuffer(0, bytes))) {
                return null;
            }
            record.writerIndex(bytes);
            complete = true;
            return record;
        } finally {
            if (!complete) {
                record.release();
            }
        }
    }
}
