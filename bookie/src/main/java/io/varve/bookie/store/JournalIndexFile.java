package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.disk.ChecksummedOutput;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.journal.JournalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.Collection;

/**
 * Where the entries of a full journal file are: its footer, kept in a file beside it so that the journal file needs no room for it. It is there to be quick; if it
 * is missing or damaged, the journal file is read instead.
 *
 * <pre>
 *  "VIDX"4 | version 4 | incarnation 8 | file number 8 | { segment 8 | entries 4 | end 8 | { first offset 8 | position/8 4 | bytes 4 }… }… | 0 8 | crc32c 4
 * </pre>
 */
final class JournalIndexFile {

    private static final int MAGIC = 0x56494458; // VIDX
    private static final int VERSION = 1;

    private JournalIndexFile() {}

    /** Takes what is found. */
    @FunctionalInterface
    interface Sink {
        void onEntry(SegmentId segment, long position, long firstOffset, long endOffset, int entryBytes);
    }

    static String name(long fileNumber) {
        return JournalFiles.DIRECTORY + "/" + String.format("%016d", fileNumber) + ".index";
    }

    static void write(Disk disk, long incarnation, long fileNumber, Collection<Replica> replicas) throws IOException {
        String name = name(fileNumber);
        try (DiskFile file = disk.create(name + ".new")) {
            ChecksummedOutput out = new ChecksummedOutput(file);
            out.putInt(MAGIC).putInt(VERSION).putLong(incarnation).putLong(fileNumber);
            for (Replica replica : replicas) {
                write(out, fileNumber, replica);
            }
            out.putLong(0);
            out.finish();
        }
        disk.rename(name + ".new", name);
        disk.forceDirectory(JournalFiles.DIRECTORY);
    }

    private static void write(ChecksummedOutput out, long fileNumber, Replica replica) throws IOException {
        // Collected first: the run may be dropped by a settle while we look at it.
        LongRows rows = new LongRows();
        long end = replica.index.endInFile(fileNumber);
        int count = replica.index.collectFile(
                fileNumber, (file, position, firstOffset, bytes) -> rows.add(position, firstOffset, bytes));
        if (count == 0 || end < 0) {
            return;
        }
        out.putLong(replica.id().value()).putInt(count).putLong(end);
        for (int at = 0; at < count; at++) {
            out.putLong(rows.firsts[at]).putInt(rows.units[at]).putInt(rows.bytes[at]);
        }
    }

    /** Reads a file's index. Answers whether it was there and intact; nothing was handed out otherwise. */
    static boolean read(Disk disk, long incarnation, long fileNumber, Sink sink) throws IOException {
        ByteBuffer in;
        try (DiskFile file = disk.open(name(fileNumber))) {
            in = ChecksummedOutput.readWhole(file);
        } catch (NoSuchFileException missing) {
            return false;
        }
        if (in == null
                || in.remaining() < 32
                || in.getInt() != MAGIC
                || in.getInt() != VERSION
                || in.getLong() != incarnation
                || in.getLong() != fileNumber) {
            return false;
        }
        for (long segment = in.getLong(); segment != 0; segment = in.getLong()) {
            int count = in.getInt();
            long end = in.getLong();
            SegmentId id = new SegmentId(segment);
            for (int at = 0; at < count; at++) {
                long first = in.getLong();
                long position = (long) in.getInt() * JournalFormat.RECORD_ALIGNMENT;
                int bytes = in.getInt();
                long entryEnd = at + 1 < count ? in.getLong(in.position()) : end;
                sink.onEntry(id, position, first, entryEnd, bytes);
            }
        }
        return true;
    }

    private static final class LongRows {
        long[] firsts = new long[16];
        int[] units = new int[16];
        int[] bytes = new int[16];
        int count;

        void add(long position, long firstOffset, int entryBytes) {
            if (count == firsts.length) {
                firsts = java.util.Arrays.copyOf(firsts, count * 2);
                units = java.util.Arrays.copyOf(units, count * 2);
                bytes = java.util.Arrays.copyOf(bytes, count * 2);
            }
            firsts[count] = firstOffset;
            units[count] = (int) (position / JournalFormat.RECORD_ALIGNMENT);
            bytes[count++] = entryBytes;
        }
    }
}
