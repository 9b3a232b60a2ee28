package io.varve.tiering.core;

import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.IntFunction;

/**
 * A block as it is read: whole entries, one after the other. Only {@link #open} makes one, so that whoever holds a block holds entries
 * whose own checksums were found right and whose offsets follow one another from the block's first to its end. Immutable; safe for any
 * thread. The buffers it hands out are read-only views of its memory.
 */
public final class Block {

    private final ByteBuffer entries;
    private final long firstOffset;
    private final long endOffset;

    private Block(ByteBuffer entries, long firstOffset, long endOffset) {
        this.entries = entries;
        this.firstOffset = firstOffset;
        this.endOffset = endOffset;
    }

    /** {@link #open(ByteBuffer, ObjectTail, int, BlockCompression, IntFunction)} with memory from the heap. */
    public static Block open(ByteBuffer stored, ObjectTail tail, int block, BlockCompression compression)
            throws ObjectFormatException {
        return open(stored, tail, block, compression, ByteBuffer::allocate);
    }

    /**
     * Checks and, where needed, decompresses a block.
     *
     * @param stored the block's bytes in the object, from the position to the limit; kept if the block is stored raw
     * @param tail of its object
     * @param memory asked for memory of a size if the block is not stored raw; kept
     * @throws ObjectFormatException if they are not what was written
     */
    public static Block open(
            ByteBuffer stored, ObjectTail tail, int block, BlockCompression compression, IntFunction<ByteBuffer> memory)
            throws ObjectFormatException {
        BlockIndex index = tail.index();
        if (stored.remaining() != index.storedBytes(block)
                || Crc.of(stored, stored.position(), stored.remaining()) != index.crc(block)) {
            throw ObjectFormatException.corrupt("block " + block + " doesn't have its checksum");
        }
        ByteBuffer entries = raw(stored, index, block, compression, memory);
        long endOffset = block + 1 < index.blocks()
                ? index.firstOffset(block + 1)
                : tail.footer().endOffset();
        checkEntries(entries, block, index.firstOffset(block), endOffset);
        return new Block(entries.asReadOnlyBuffer(), index.firstOffset(block), endOffset);
    }

    private static ByteBuffer raw(
            ByteBuffer stored,
            BlockIndex index,
            int block,
            BlockCompression compression,
            IntFunction<ByteBuffer> memory)
            throws ObjectFormatException {
        int codec = index.codec(block);
        if (codec == BlockIndex.CODEC_RAW) {
            return stored.slice();
        }
        if (codec != compression.codec()) {
            throw ObjectFormatException.unsupported("block " + block + " has codec " + codec);
        }
        ByteBuffer raw = memory.apply(index.rawBytes(block));
        compression.decompress(stored.duplicate(), raw);
        return raw.flip();
    }

    private static void checkEntries(ByteBuffer entries, int block, long firstOffset, long endOffset)
            throws ObjectFormatException {
        long next = firstOffset;
        for (int at = 0; at < entries.limit(); at += bytesOf(entries, at)) {
            if (!EntryFormat.isIntact(entries, at) || EntryFormat.firstOffset(entries, at) != next) {
                throw ObjectFormatException.corrupt("block " + block + " has no intact entry at offset " + next);
            }
            next = EntryFormat.lastOffset(entries, at) + 1;
        }
        if (next != endOffset) {
            throw ObjectFormatException.corrupt("block " + block + " ends at offset " + next + ", not " + endOffset);
        }
    }

    private static int bytesOf(ByteBuffer entries, int at) {
        return EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
    }

    /** The first offset. */
    public long firstOffset() {
        return firstOffset;
    }

    /** Exclusive. */
    public long endOffset() {
        return endOffset;
    }

    /** How many bytes of memory it holds. */
    public int bytes() {
        return entries.capacity();
    }

    /** All entries in one buffer. */
    public ByteBuffer entries() {
        return entries.duplicate();
    }

    /**
     * Some of a block's entries, one after the other.
     *
     * @param at where the first of them begins in {@link #entries()}
     * @param bytes of all of them; 0 if there are none
     * @param nextOffset after the last of them; the first offset that was asked for if there are none
     */
    public record Stretch(int at, int bytes, long nextOffset) {}

    /** The entries of {@link #entriesFrom} as one stretch. */
    public Stretch stretchFrom(long fromOffset, int maxBytes, boolean atLeastOne) {
        int start = -1;
        int bytes = 0;
        long nextOffset = fromOffset;
        for (int at = 0; at < entries.limit(); at += bytesOf(entries, at)) {
            if (EntryFormat.lastOffset(entries, at) < fromOffset) {
                continue;
            }
            int more = bytesOf(entries, at);
            if (more > maxBytes - bytes && !(atLeastOne && start < 0)) {
                break;
            }
            start = start < 0 ? at : start;
            bytes += more;
            nextOffset = EntryFormat.lastOffset(entries, at) + 1;
        }
        return new Stretch(Math.max(0, start), bytes, nextOffset);
    }

    /**
     * Entries from the one that holds {@code fromOffset} on, while they fit into {@code maxBytes}.
     *
     * @param atLeastOne the first one comes whether it fits or not
     */
    public List<ByteBuffer> entriesFrom(long fromOffset, int maxBytes, boolean atLeastOne) {
        Stretch stretch = stretchFrom(fromOffset, maxBytes, atLeastOne);
        List<ByteBuffer> found = new ArrayList<>();
        for (int at = stretch.at(); at < stretch.at() + stretch.bytes(); at += bytesOf(entries, at)) {
            found.add(entries.slice(at, bytesOf(entries, at)));
        }
        return found;
    }

    /** The first offset of the first entry with a record at or after {@code timestampMs}. */
    public OptionalLong entryAtTimestamp(long timestampMs) {
        for (int at = 0; at < entries.limit(); at += bytesOf(entries, at)) {
            if (EntryTimes.maxTimestampMs(entries, at) >= timestampMs) {
                return OptionalLong.of(EntryFormat.firstOffset(entries, at));
            }
        }
        return OptionalLong.empty();
    }
}
