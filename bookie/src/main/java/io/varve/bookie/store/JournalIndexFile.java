package io.varve.bookie.store;

import io.varve.base.SegmentId;
import io.varve.bookie.core.IndexRows;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.SegmentIndex;
import io.varve.bookie.disk.ChecksummedOutput;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import io.varve.bookie.journal.JournalFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.zip.CRC32C;

/**
 * Where the entries of a full journal file are: its footer, kept in a file beside it so that the journal file needs no room for it. It is there to be quick; if it
 * is missing or damaged, the journal file is read instead.
 *
 * <pre>
 *  "VIDX"4 | version 4 | incarnation 8 | file number 8 | run… | 0 8 | crc32c 4
 *  run: segment 8 | entries 4 | first offset 8 | end 8 | { first offset 8 | position/8 4 | bytes 4 }… | crc32c of the rows 4
 * </pre>
 *
 * The rows of each run have a checksum of their own, because they are read alone.
 */
final class JournalIndexFile {

    private static final int MAGIC = 0x56494458; // VIDX
    private static final int VERSION = 2;
    private static final int HEADER_BYTES = 24;
    private static final int CRC_BYTES = 4;

    private JournalIndexFile() {}

    /** Takes the runs that are found. */
    @FunctionalInterface
    interface Sink {
        /** @param rowsAt where the rows start in the index file */
        void onRun(SegmentId segment, long firstOffset, long endOffset, long rowsAt, int rows);
    }

    /** A run that was written. */
    record Written(SegmentId segment, SegmentIndex.Run run, long rowsAt, int rows) {}

    static String name(long fileNumber) {
        return JournalFiles.DIRECTORY + "/" + String.format("%016d", fileNumber) + ".index";
    }

    /**
     * Writes the index of a file to which nothing is added any more. It is left to the system when that reaches the disk, for the journal file says the same; an fsync
     * here would make appends wait.
     */
    static List<Written> write(Disk disk, long incarnation, long fileNumber, Collection<Replica> replicas)
            throws IOException {
        List<Written> written = new ArrayList<>();
        String name = name(fileNumber);
        try (DiskFile file = disk.create(name + ".new")) {
            ChecksummedOutput out = new ChecksummedOutput(file);
            out.putInt(MAGIC).putInt(VERSION).putLong(incarnation).putLong(fileNumber);
            ByteBuffer rowBytes = ByteBuffer.allocate(IndexRows.ROW_BYTES);
            for (Replica replica : replicas) {
                SegmentIndex.Run run = replica.index.run(fileNumber);
                IndexRows rows = run == null ? null : run.rows();
                if (rows != null) {
                    out.putLong(replica.id().value())
                            .putInt(rows.count())
                            .putLong(run.firstOffset())
                            .putLong(run.endOffset());
                    written.add(new Written(replica.id(), run, out.bytes(), rows.count()));
                    write(out, rows, rowBytes);
                }
            }
            out.putLong(0);
            out.finishUnforced();
        }
        disk.rename(name + ".new", name);
        return written;
    }

    private static void write(ChecksummedOutput out, IndexRows rows, ByteBuffer rowBytes) throws IOException {
        CRC32C crc = new CRC32C();
        int count = rows.count();
        for (int row = 0; row < count; row++) {
            rowBytes.clear();
            rowBytes.putLong(rows.firstOffset(row))
                    .putInt((int) (rows.position(row) / JournalFormat.RECORD_ALIGNMENT))
                    .putInt(rows.entryBytes(row))
                    .flip();
            crc.update(rowBytes.array(), 0, IndexRows.ROW_BYTES);
            out.put(rowBytes);
        }
        out.putInt((int) crc.getValue());
    }

    /** Reads what runs a file has. Answers whether its index was there and intact; nothing was handed out otherwise. */
    static boolean read(Disk disk, long incarnation, long fileNumber, Sink sink) throws IOException {
        ByteBuffer in;
        try (DiskFile file = disk.open(name(fileNumber))) {
            in = ChecksummedOutput.readWhole(file);
        } catch (NoSuchFileException missing) {
            return false;
        }
        if (in == null
                || in.remaining() < HEADER_BYTES + Long.BYTES
                || in.getInt() != MAGIC
                || in.getInt() != VERSION
                || in.getLong() != incarnation
                || in.getLong() != fileNumber) {
            return false;
        }
        for (long segment = in.getLong(); segment != 0; segment = in.getLong()) {
            int rows = in.getInt();
            long first = in.getLong();
            long end = in.getLong();
            sink.onRun(new SegmentId(segment), first, end, in.position(), rows);
            in.position(in.position() + rows * IndexRows.ROW_BYTES + CRC_BYTES);
        }
        return true;
    }

    /**
     * Reads the rows of one run.
     *
     * @return {@code null} if they are damaged
     * @throws NoSuchFileException if there is no such index
     */
    static IndexRows readRows(Disk disk, long fileNumber, long at, int count) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(count * IndexRows.ROW_BYTES + CRC_BYTES);
        try (DiskFile file = disk.open(name(fileNumber))) {
            if (file.read(in, at) != in.capacity()) {
                return null;
            }
        }
        CRC32C crc = new CRC32C();
        crc.update(in.array(), 0, count * IndexRows.ROW_BYTES);
        in.flip();
        if (in.getInt(count * IndexRows.ROW_BYTES) != (int) crc.getValue()) {
            return null;
        }
        IndexRows rows = new IndexRows(count);
        for (int row = 0; row < count; row++) {
            long first = in.getLong();
            long position = (long) in.getInt() * JournalFormat.RECORD_ALIGNMENT;
            rows.add(position, first, in.getInt());
        }
        return rows;
    }
}
