package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.JournalFormat;
import io.varve.bookie.core.RecordType;
import io.varve.bookie.journal.JournalScanner;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.NoSuchFileException;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Reads ranges of replicas, wherever their bytes are, and verifies every entry. Blocks on the disk. Safe for any thread. */
final class SegmentReader {

    private static final Logger LOG = LoggerFactory.getLogger(SegmentReader.class);

    /** Entries move from the journal to a settled file at most once, but the plan may be made at just that moment. */
    private static final int TRIES = 3;

    private final ByteBufAllocator allocator;

    SegmentReader(ByteBufAllocator allocator) {
        this.allocator = allocator;
    }

    /** Whole entries from the one that holds {@code fromOffset}, as {@link SegmentStore#read}. */
    ReadReply read(Replica replica, long fromOffset, int maxBytes) {
        long end = replica.state.durableEnd();
        if (fromOffset >= end) {
            return beyondEnd(replica, end);
        }
        if (fromOffset < replica.state.startOffset()) {
            return empty(BookieStatus.INVALID, replica);
        }
        try {
            for (int attempt = 0; attempt < TRIES; attempt++) {
                ByteBuf entries = fetch(replica, fromOffset, end, maxBytes);
                if (entries != null) {
                    return verified(replica, fromOffset, entries);
                }
            }
            LOG.error("read=not_found segment={} offset={} end={}", replica.id(), fromOffset, end);
            replica.directory.quarantine(replica, "offset " + fromOffset + " is neither in the journal nor settled");
            return empty(BookieStatus.UNKNOWN, replica);
        } catch (DamagedFileException damaged) {
            replica.directory.quarantine(replica, damaged.getMessage());
            return empty(BookieStatus.CORRUPT, replica);
        } catch (IOException trouble) {
            replica.directory.shared.metrics.error("read");
            LOG.warn("read=failed segment={} offset={} why=\"{}\"", replica.id(), fromOffset, trouble.toString());
            return empty(BookieStatus.IO_ERROR, replica);
        }
    }

    /** Unverified bytes, or {@code null} if the place has changed under our hands. */
    private ByteBuf fetch(Replica replica, long fromOffset, long end, int maxBytes) throws IOException {
        DirectoryStore directory = replica.directory;
        Replica.Settled settled = replica.settled;
        if (fromOffset < settled.end()) {
            try (SettledFiles.Handle handle = directory.settledFiles().open(replica.id(), settled.bytes())) {
                ByteBuf entries = handle.file.read(fromOffset, maxBytes, settled.bytes(), allocator);
                directory.shared.metrics.readSettledBytes.increment(entries.readableBytes());
                return entries;
            } catch (NoSuchFileException gone) {
                if (replica.isLive()) {
                    throw new DamagedFileException("the segment's own file is gone");
                }
                throw gone;
            }
        }
        JournalReader.Plan plan = directory.journalReader().plan(replica.index, fromOffset, end, maxBytes);
        return plan == null ? null : directory.journalReader().read(plan, allocator);
    }

    /**
     * Verified entries out of the journal; {@code null} if they can't be had: damaged, which is dealt with, unreadable at the moment, or moved.
     */
    ByteBuf readFromJournal(Replica replica, long fromOffset, long belowOffset, int maxBytes) {
        JournalReader journal = replica.directory.journalReader();
        try {
            JournalReader.Plan plan = journal.plan(replica.index, fromOffset, belowOffset, maxBytes);
            ByteBuf entries = plan == null ? null : journal.read(plan, allocator);
            return entries == null || verified(replica, fromOffset, entries).status() != BookieStatus.OK
                    ? null
                    : entries;
        } catch (DamagedFileException damaged) {
            replica.directory.quarantine(replica, damaged.getMessage());
            return null;
        } catch (IOException trouble) {
            replica.directory.shared.metrics.error("read");
            LOG.warn("read=failed segment={} offset={} why=\"{}\"", replica.id(), fromOffset, trouble.toString());
            return null;
        }
    }

    /** Where whole entries end: an offset, exclusive. */
    static long endOf(ByteBuffer entries) {
        long end = -1;
        for (int at = 0; at < entries.limit(); ) {
            end = EntryFormat.lastOffset(entries, at) + 1;
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
        }
        return end;
    }

    private ReadReply verified(Replica replica, long fromOffset, ByteBuf entries) {
        ByteBuffer bytes = entries.nioBuffer();
        long next = -1;
        for (int at = 0; at < bytes.limit(); ) {
            if (!EntryFormat.isIntact(bytes, at)
                    || (next >= 0 ? EntryFormat.firstOffset(bytes, at) != next : !holds(bytes, at, fromOffset))) {
                entries.release();
                replica.directory.quarantine(
                        replica, "the entry at offset " + Math.max(next, fromOffset) + " is damaged");
                return empty(BookieStatus.CORRUPT, replica);
            }
            next = EntryFormat.lastOffset(bytes, at) + 1;
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(bytes, at);
        }
        return new ReadReply(BookieStatus.OK, entries, replica.state.durableEnd(), replica.state.highWatermark());
    }

    private static boolean holds(ByteBuffer bytes, int at, long offset) {
        return EntryFormat.firstOffset(bytes, at) <= offset && offset <= EntryFormat.lastOffset(bytes, at);
    }

    static ReadReply beyondEnd(Replica replica, long end) {
        boolean vouched = replica.isIntact() && !replica.directory.isOutOfService();
        return new ReadReply(
                vouched ? BookieStatus.BEYOND_END : BookieStatus.UNKNOWN,
                Unpooled.EMPTY_BUFFER,
                vouched ? end : -1,
                replica.state.highWatermark());
    }

    static ReadReply empty(BookieStatus status, Replica replica) {
        return new ReadReply(status, Unpooled.EMPTY_BUFFER, replica.state.durableEnd(), replica.state.highWatermark());
    }

    /** As {@link SegmentStore#readCheckpoint}. */
    CheckpointReply readCheckpoint(Replica replica, long atMostOffset) {
        List<CheckpointRef> refs = replica.checkpoints;
        BookieStatus status = BookieStatus.BEYOND_END;
        for (int at = refs.size() - 1; at >= 0; at--) {
            CheckpointRef ref = refs.get(at);
            if (ref.offset() <= atMostOffset) {
                try {
                    ByteBuf state = fetchCheckpoint(replica, ref);
                    if (state != null) {
                        return new CheckpointReply(BookieStatus.OK, ref.offset(), state);
                    }
                    status = BookieStatus.CORRUPT;
                } catch (DamagedFileException damaged) {
                    status = BookieStatus.CORRUPT;
                    replica.directory.shared.metrics.error("corrupt");
                    LOG.warn("checkpoint=damaged segment={} why=\"{}\"", replica.id(), damaged.getMessage());
                } catch (IOException trouble) {
                    status = BookieStatus.IO_ERROR;
                    replica.directory.shared.metrics.error("read");
                    LOG.warn("checkpoint=unreadable segment={} why=\"{}\"", replica.id(), trouble.toString());
                }
            }
        }
        return new CheckpointReply(status, -1, Unpooled.EMPTY_BUFFER);
    }

    /** An intact checkpoint, the caller's to release; or {@code null}. */
    ByteBuf fetchCheckpoint(Replica replica, CheckpointRef ref) throws IOException {
        if (ref.file() == CheckpointRef.SETTLED) {
            return CheckpointFile.read(replica.directory.disk, replica.id(), ref.offset());
        }
        ByteBuf record = replica.directory.journalReader().readCheckpoint(ref, allocator);
        if (record == null) {
            return null;
        }
        ByteBuffer bytes = record.nioBuffer();
        RecordType type = RecordType.CHECKPOINT;
        boolean intact = JournalFormat.type(bytes, 0) == type
                && JournalFormat.claimedChecksum(bytes, 0) == JournalFormat.headChecksum(bytes, 0, type)
                && JournalFormat.length(bytes, 0) == type.fixedBytes() + ref.stateBytes()
                && Records.segment(bytes, JournalFormat.fixedAt(0)).equals(replica.id())
                && JournalScanner.isPayloadIntact(bytes, 0);
        if (!intact) {
            record.release();
            return null;
        }
        return record.skipBytes(JournalFormat.fixedAt(0) + type.fixedBytes());
    }
}
