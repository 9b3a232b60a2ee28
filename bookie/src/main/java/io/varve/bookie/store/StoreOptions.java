package io.varve.bookie.store;

import io.varve.base.BookieId;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;

/**
 * How a store is set up. All limits are per store unless they say per directory.
 *
 * @param clusterId written into, and checked against, the cookie of every directory
 * @param bookieId likewise
 * @param directories at least one; made if missing
 * @param journalFileBytes size of one preallocated journal file, a multiple of 4096
 * @param directWrites whether the journal is written past the page cache, where the file system can
 * @param groupBytesMax the most that is made durable by one fsync, per directory
 * @param pendingBytesMax appends waiting to become durable beyond this are answered OVERLOADED, per directory; congested from half of it on
 * @param recentBytesMax written groups kept in memory for readers of the tail, per directory
 * @param indexBytesMax indexes of full journal files kept in memory, per directory
 * @param entryBytesMax payloads beyond this are TOO_LARGE
 * @param tailReadBytesMax memory for reads under way at TAIL and RECOVERY
 * @param catchUpReadBytesMax memory for reads under way at CATCH_UP
 * @param unsettledBytesMax full journal files beyond this are settled, oldest first, per directory
 * @param settleBytesPerSecond how fast settling reads, per directory, while no more waits than should; faster the more does, without bound from twice
 *     {@code unsettledBytesMax} on
 * @param scrubBytesPerSecond how fast the scrub reads, per directory; 0 turns it off
 * @param diskReserveBytes kept free for fences, deletions and settling, per directory; read-only when less is left
 * @param diskRelieveBytes writable again when so much is free; above {@code diskReserveBytes}
 */
public record StoreOptions(
        String clusterId,
        BookieId bookieId,
        List<Path> directories,
        long journalFileBytes,
        boolean directWrites,
        int groupBytesMax,
        long pendingBytesMax,
        long recentBytesMax,
        long indexBytesMax,
        int entryBytesMax,
        long tailReadBytesMax,
        long catchUpReadBytesMax,
        long unsettledBytesMax,
        long settleBytesPerSecond,
        long scrubBytesPerSecond,
        long diskReserveBytes,
        long diskRelieveBytes) {

    private static final long MIB = 1024 * 1024;

    public StoreOptions {
        Objects.requireNonNull(clusterId, "clusterId");
        Objects.requireNonNull(bookieId, "bookieId");
        directories = List.copyOf(directories);
        require(
                journalFileBytes % JournalFormat.BLOCK_BYTES == 0 && journalFileBytes <= JournalFormat.FILE_BYTES_MAX,
                "a journal file has whole blocks");
        require(groupBytesMax > 0 && groupBytesMax % JournalFormat.BLOCK_BYTES == 0, "a group has whole blocks");
        // Or an entry could be taken that fits into no file.
        require(
                JournalFormat.blockAligned(JournalFormat.recordBytes(RecordType.ENTRY, entryBytesMax))
                        <= JournalFormat.groupsEnd(journalFileBytes) - JournalFormat.BLOCK_BYTES,
                "the largest entry fits into a journal file");
        require(
                diskRelieveBytes > diskReserveBytes,
                "a full disk becomes writable when more is free than made it full");
    }

    private static void require(boolean holds, String what) {
        if (!holds) {
            throw new IllegalArgumentException(what);
        }
    }

    /** The defaults for these directories. */
    public static StoreOptions defaults(String clusterId, BookieId bookieId, List<Path> directories) {
        return new StoreOptions(
                clusterId,
                bookieId,
                directories,
                256 * MIB,
                true,
                (int) (4 * MIB),
                64 * MIB,
                64 * MIB,
                32 * MIB,
                (int) (16 * MIB),
                64 * MIB,
                64 * MIB,
                2048 * MIB,
                64 * MIB,
                8 * MIB,
                1024 * MIB,
                2048 * MIB);
    }

    /** The same with journal files of another size, and entries no larger than one holds. */
    StoreOptions withJournalFileBytes(long bytes) {
        long payloadBytesMax = JournalFormat.groupsEnd(bytes)
                - JournalFormat.BLOCK_BYTES
                - JournalFormat.recordBytes(RecordType.ENTRY, 0);
        return new StoreOptions(
                clusterId,
                bookieId,
                directories,
                bytes,
                directWrites,
                groupBytesMax,
                pendingBytesMax,
                recentBytesMax,
                indexBytesMax,
                (int) Math.max(0, Math.min(entryBytesMax, payloadBytesMax)),
                tailReadBytesMax,
                catchUpReadBytesMax,
                unsettledBytesMax,
                settleBytesPerSecond,
                scrubBytesPerSecond,
                diskReserveBytes,
                diskRelieveBytes);
    }
}
