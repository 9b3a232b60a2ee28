package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.core.SparseIndex;
import io.varve.bookie.disk.ChecksummedOutput;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.DiskFile;
import io.varve.protocol.storage.EntryFormat;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;

/**
 * A segment's own file: its entries one behind the other, as {@link EntryFormat} lays them out.
 *
 * A header ({@link SettledFormat}), and then the entries.
 *
 * Beside it, {@code .index}: {@code | "VSIX"4 | version 4 | segment 8 | covered bytes 8 | { first offset 8 | position 8 }… | crc32c 4 |}. It is only there to be
 * quick: what it doesn't cover is read again. Reading is safe for any thread; writing belongs to one.
 */
final class SettledFile implements Closeable {

    private static final int HEADER_BYTES = SettledFormat.HEADER_BYTES;

    private static final int INDEX_MAGIC = 0x56534958; // VSIX
    private static final int VERSION = 1;
    private static final int SCAN_BYTES = 1024 * 1024;

    private final DiskFile file;
    private final SparseIndex index;

    private SettledFile(DiskFile file, SparseIndex index) {
        this.file = file;
        this.index = index;
    }

    /** Makes an empty one, in place of any there is. */
    static SettledFile create(
            Disk disk, String name, SegmentId segment, PartitionId partition, int epoch, long startOffset)
            throws IOException {
        ByteBuffer header = SettledFormat.header(segment, partition, epoch, startOffset);
        DiskFile file = disk.create(name);
        boolean created = false;
        try {
            file.write(header, 0);
            created = true;
            return new SettledFile(file, new SparseIndex());
        } finally {
            if (!created) {
                file.close();
            }
        }
    }

    /**
     * Opens one.
     *
     * @param bytes of entries that count
     * @throws DamagedFileException if it isn't that segment's
     * @throws IOException if it isn't there or can't be read
     */
    static SettledFile open(Disk disk, String name, SegmentId segment, long bytes) throws IOException {
        DiskFile file = disk.open(name);
        boolean opened = false;
        try {
            ByteBuffer header = ByteBuffer.allocate(HEADER_BYTES);
            if (file.read(header, 0) != HEADER_BYTES
                    || !SettledFormat.isHeader(header.flip())
                    || SettledFormat.segment(header) != segment.value()) {
                throw new DamagedFileException(name + " does not hold segment " + segment);
            }
            SettledFile settled = new SettledFile(file, readIndex(disk, segment, bytes));
            settled.indexRest(bytes);
            opened = true;
            return settled;
        } finally {
            if (!opened) {
                file.close();
            }
        }
    }

    /** Whether a segment's own file is there and long enough to hold so many bytes of entries. */
    static boolean mayHold(Disk disk, SegmentId segment, long bytes) throws IOException {
        try (DiskFile file = disk.open(SegmentFiles.data(segment))) {
            return file.size() >= HEADER_BYTES + bytes;
        } catch (NoSuchFileException missing) {
            return false;
        }
    }

    private static SparseIndex readIndex(Disk disk, SegmentId segment, long bytes) throws IOException {
        SparseIndex index = new SparseIndex();
        ByteBuffer in;
        try (DiskFile file = disk.open(SegmentFiles.index(segment))) {
            in = ChecksummedOutput.readWhole(file);
        } catch (NoSuchFileException missing) {
            return index;
        }
        if (in == null
                || in.remaining() < 24
                || in.getInt() != INDEX_MAGIC
                || in.getInt() != VERSION
                || in.getLong() != segment.value()) {
            return index;
        }
        long covered = in.getLong();
        if (covered <= bytes) {
            while (in.remaining() >= 16) {
                index.addPoint(in.getLong(), in.getLong());
            }
            index.cover(covered);
        }
        return index;
    }

    /** Reads on where the index ends, without verifying: reads will. Stops where an entry's header makes no sense. */
    private void indexRest(long bytes) throws IOException {
        ByteBuffer head = ByteBuffer.allocate(EntryFormat.HEADER_BYTES);
        while (index.coveredBytes() + EntryFormat.HEADER_BYTES <= bytes) {
            head.clear();
            if (file.read(head, HEADER_BYTES + index.coveredBytes()) != EntryFormat.HEADER_BYTES) {
                return;
            }
            long first = EntryFormat.firstOffset(head, 0);
            int length = EntryFormat.payloadLength(head, 0);
            if (!EntryFormat.isPlausible(first, EntryFormat.lastOffset(head, 0), length)
                    || length > bytes - index.coveredBytes() - EntryFormat.HEADER_BYTES) {
                return;
            }
            index.onEntry(first, EntryFormat.HEADER_BYTES + length);
        }
    }

    /**
     * Verifies the entries from the start on, as long as they are intact and adjoin.
     *
     * @return where they end: offset, and bytes
     */
    Replica.Settled verify(long startOffset) throws IOException {
        long next = startOffset;
        long position = 0;
        long size = file.size() - HEADER_BYTES;
        ByteBuffer buffer = ByteBuffer.allocateDirect(SCAN_BYTES);
        while (position < size) {
            buffer.clear();
            file.read(buffer, HEADER_BYTES + position);
            buffer.flip();
            int at = 0;
            while (EntryFormat.isIntact(buffer, at) && EntryFormat.firstOffset(buffer, at) == next) {
                next = EntryFormat.lastOffset(buffer, at) + 1;
                at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(buffer, at);
            }
            if (at == 0) {
                int whole = wholeEntryBytes(buffer, size - position);
                if (whole <= buffer.capacity()) {
                    break;
                }
                buffer = ByteBuffer.allocateDirect(whole);
            }
            position += at;
        }
        return new Replica.Settled(next, position);
    }

    /**
     * Writes everything once more, the header and so many bytes of entries, so that the next {@link #force} covers it. What a process before this one wrote may be in the
     * page cache alone, and taken for clean, if an fsync of it failed.
     */
    void writeAgain(long bytes) throws IOException {
        long size = HEADER_BYTES + bytes;
        ByteBuffer buffer = ByteBuffer.allocateDirect((int) Math.min(SCAN_BYTES, size));
        for (long position = 0; position < size; position += buffer.limit()) {
            buffer.clear().limit((int) Math.min(buffer.capacity(), size - position));
            if (file.read(buffer, position) != buffer.limit()) {
                throw new IOException("the file ends before " + size);
            }
            file.write(buffer.flip(), position);
        }
    }

    /** Length of the entry at the buffer's start, if it can be one and the file holds so much; else 0. */
    private static int wholeEntryBytes(ByteBuffer buffer, long available) {
        if (buffer.limit() < EntryFormat.HEADER_BYTES) {
            return 0;
        }
        int length = EntryFormat.payloadLength(buffer, 0);
        boolean possible = length >= 0 && length <= EntryFormat.PAYLOAD_BYTES_MAX;
        return possible && EntryFormat.HEADER_BYTES + (long) length <= available
                ? EntryFormat.HEADER_BYTES + length
                : 0;
    }

    /**
     * Entries from the one that holds {@code fromOffset}, unverified: as many as fit, the first in any case.
     *
     * @param settledBytes of entries that count
     * @return the caller's to release
     */
    ByteBuf read(long fromOffset, int maxBytes, long settledBytes, ByteBufAllocator allocator) throws IOException {
        long start;
        synchronized (index) {
            start = index.positionBefore(fromOffset);
        }
        int room = maxBytes;
        while (true) {
            int bytes = (int)
                    Math.min((long) SparseIndex.STEP_BYTES + EntryFormat.HEADER_BYTES + room, settledBytes - start);
            ByteBuf buffer = allocator.directBuffer(bytes, bytes);
            boolean handedOut = false;
            try {
                ByteBuffer raw = buffer.internalNioBuffer(0, bytes);
                if (file.read(raw, HEADER_BYTES + start) != bytes) {
                    throw new DamagedFileException(
                            "the segment's own file ends before " + (HEADER_BYTES + start + bytes));
                }
                buffer.writerIndex(bytes);
                ByteBuffer entries = buffer.nioBuffer();
                int from = skipTo(entries, fromOffset);
                int end = take(entries, from, maxBytes);
                if (end <= entries.limit()) {
                    handedOut = true;
                    return buffer.setIndex(from, end);
                }
                // The entry is larger than what was read: once more, with room for it.
                start += from;
                room = end - from;
            } finally {
                if (!handedOut) {
                    buffer.release();
                }
            }
        }
    }

    /** Where the entry that holds the offset starts; or the place that makes no sense, for the caller to find that it isn't intact. */
    private static int skipTo(ByteBuffer entries, long offset) {
        int at = 0;
        while (isWhole(entries, at) && EntryFormat.lastOffset(entries, at) < offset) {
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
        }
        return at;
    }

    /** Where the entries that fit end; beyond the limit if the first one does not fit into what was read. */
    private static int take(ByteBuffer entries, int from, int maxBytes) {
        if (!isWhole(entries, from)) {
            if (entries.limit() - from < EntryFormat.HEADER_BYTES) {
                return from + EntryFormat.HEADER_BYTES;
            }
            int length = EntryFormat.payloadLength(entries, from);
            boolean possible = length >= 0 && length <= EntryFormat.PAYLOAD_BYTES_MAX;
            return possible ? from + EntryFormat.HEADER_BYTES + length : entries.limit();
        }
        int at = from + EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, from);
        while (isWhole(entries, at)) {
            int next = at + EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
            if (next - from > maxBytes) {
                break;
            }
            at = next;
        }
        return at;
    }

    private static boolean isWhole(ByteBuffer entries, int at) {
        if (entries.limit() - at < EntryFormat.HEADER_BYTES) {
            return false;
        }
        int length = EntryFormat.payloadLength(entries, at);
        return length >= 0 && length <= entries.limit() - at - EntryFormat.HEADER_BYTES;
    }

    /** Adds whole, verified entries behind {@link #bytes}. */
    void append(ByteBuffer entries) throws IOException {
        long position = index.coveredBytes();
        ByteBuffer walk = entries.duplicate();
        file.write(entries, HEADER_BYTES + position);
        synchronized (index) {
            for (int at = walk.position(); at < walk.limit(); ) {
                int length = EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(walk, at);
                index.onEntry(EntryFormat.firstOffset(walk, at), length);
                at += length;
            }
        }
    }

    /** Bytes of entries. */
    long bytes() {
        return index.coveredBytes();
    }

    /** Makes the entries durable. */
    void force() throws IOException {
        file.force();
    }

    /** Cuts off what is behind the entries that count. */
    void truncate() throws IOException {
        truncateTo(index.coveredBytes());
    }

    /** Cuts off what is behind so many bytes of entries; nothing more is done with the file afterwards than closing it. */
    void truncateTo(long bytes) throws IOException {
        file.truncate(HEADER_BYTES + bytes);
    }

    /** Saves the index, for the next time the file is opened. */
    void writeIndex(Disk disk, SegmentId segment) throws IOException {
        SparseIndex saved;
        synchronized (index) {
            saved = index.copy();
        }
        String name = SegmentFiles.index(segment);
        try (DiskFile out = disk.create(name + ".new")) {
            ChecksummedOutput to = new ChecksummedOutput(out);
            to.putInt(INDEX_MAGIC).putInt(VERSION).putLong(segment.value()).putLong(saved.coveredBytes());
            for (int point = 0; point < saved.count(); point++) {
                to.putLong(saved.offset(point)).putLong(saved.position(point));
            }
            to.finish();
        }
        disk.rename(name + ".new", name);
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
