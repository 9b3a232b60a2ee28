package io.varve.tiering.core;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.OptionalInt;

/**
 * Where the blocks of an object lie. Immutable. One entry a block, in order of offset and position:
 *
 * <pre>
 *  0             8               16         24        28         32     36      40
 *  +-------------+---------------+----------+---------+----------+------+-------+
 *  | firstOffset | max timestamp | position | stored  | raw      | crc  | codec |
 *  |             | (ms, −1: none)|          | (bytes) | (bytes)  |      |       |
 *  +-------------+---------------+----------+---------+----------+------+-------+
 * </pre>
 *
 * {@code crc} covers the stored bytes. Blocks lie one after the other, without gaps, from {@code position} of the first on.
 */
public final class BlockIndex {

    /** Stored as it is. */
    public static final int CODEC_RAW = 0;

    /** Stored as one LZ4 frame. */
    public static final int CODEC_LZ4_FRAME = 1;

    private final long[] firstOffsets;
    private final long[] maxTimestampsMs;
    private final long[] positions;
    private final int[] storedBytes;
    private final int[] rawBytes;
    private final int[] crcs;
    private final int[] codecs;

    private BlockIndex(int blocks) {
        firstOffsets = new long[blocks];
        maxTimestampsMs = new long[blocks];
        positions = new long[blocks];
        storedBytes = new int[blocks];
        rawBytes = new int[blocks];
        crcs = new int[blocks];
        codecs = new int[blocks];
    }

    /** How many blocks there are. */
    public int blocks() {
        return firstOffsets.length;
    }

    /** The first offset in a block. */
    public long firstOffset(int block) {
        return firstOffsets[block];
    }

    /** The largest record time in a block, {@code -1} if it has none. */
    public long maxTimestampMs(int block) {
        return maxTimestampsMs[block];
    }

    /** Where a block's stored bytes begin in the object. */
    public long position(int block) {
        return positions[block];
    }

    /** How many bytes a block takes in the object. */
    public int storedBytes(int block) {
        return storedBytes[block];
    }

    /** How many bytes a block has when it is read. */
    public int rawBytes(int block) {
        return rawBytes[block];
    }

    /** The checksum of a block's stored bytes. */
    public int crc(int block) {
        return crcs[block];
    }

    /** How a block is stored. */
    public int codec(int block) {
        return codecs[block];
    }

    /** The block that holds {@code offset}, which must not be below the first block's first. */
    public int blockOf(long offset) {
        int at = Arrays.binarySearch(firstOffsets, offset);
        return at >= 0 ? at : -at - 2;
    }

    /** The first block with a record at or after {@code timestampMs}. Times need not rise with offsets, so all are looked at. */
    public OptionalInt blockAtTimestamp(long timestampMs) {
        for (int block = 0; block < maxTimestampsMs.length; block++) {
            if (maxTimestampsMs[block] >= timestampMs) {
                return OptionalInt.of(block);
            }
        }
        return OptionalInt.empty();
    }

    /** How many bytes this takes in memory, nearly. */
    public long memoryBytes() {
        return 64 + 40L * blocks();
    }

    /**
     * Reads {@code blocks} entries of {@code entryBytes} each from the buffer's position.
     *
     * @param blocksEnd where the last block must end
     */
    static BlockIndex decode(ByteBuffer from, int blocks, int entryBytes, long blocksEnd) throws ObjectFormatException {
        BlockIndex index = new BlockIndex(blocks);
        // The header of a later minor version may be longer than ours, so the first block says itself where it begins.
        long position = blocks == 0 ? blocksEnd : from.getLong(from.position() + 16);
        if (position < ObjectFormat.HEADER_BYTES) {
            throw ObjectFormatException.corrupt("the blocks begin at " + position);
        }
        for (int block = 0; block < blocks; block++) {
            int at = from.position() + block * entryBytes;
            index.firstOffsets[block] = from.getLong(at);
            index.maxTimestampsMs[block] = from.getLong(at + 8);
            index.positions[block] = from.getLong(at + 16);
            index.storedBytes[block] = from.getInt(at + 24);
            index.rawBytes[block] = from.getInt(at + 28);
            index.crcs[block] = from.getInt(at + 32);
            index.codecs[block] = from.getInt(at + 36);
            index.checkEntry(block, position);
            position += index.storedBytes[block];
        }
        if (position != blocksEnd) {
            throw ObjectFormatException.corrupt("the index ends at " + position + " and the blocks at " + blocksEnd);
        }
        return index;
    }

    private void checkEntry(int block, long position) throws ObjectFormatException {
        boolean sound = positions[block] == position
                && storedBytes[block] > 0
                && rawBytes[block] > 0
                && rawBytes[block] <= ObjectFormat.BLOCK_RAW_BYTES_MAX
                && storedBytes[block] <= rawBytes[block]
                && (codecs[block] != CODEC_RAW || storedBytes[block] == rawBytes[block])
                && firstOffsets[block] >= 0
                && (block == 0 || firstOffsets[block] > firstOffsets[block - 1]);
        if (!sound) {
            throw ObjectFormatException.corrupt("index entry " + block + " makes no sense");
        }
    }

    /** Collects entries while blocks are written. Not safe for several threads. */
    static final class Builder {

        private ByteBuffer entries = ByteBuffer.allocate(256 * ObjectFormat.INDEX_ENTRY_BYTES);

        void add(long firstOffset, long maxTimestampMs, long position, int stored, int raw, int crc, int codec) {
            if (entries.remaining() < ObjectFormat.INDEX_ENTRY_BYTES) {
                entries = ByteBuffer.allocate(2 * entries.capacity()).put(entries.flip());
            }
            entries.putLong(firstOffset)
                    .putLong(maxTimestampMs)
                    .putLong(position)
                    .putInt(stored)
                    .putInt(raw)
                    .putInt(crc)
                    .putInt(codec);
        }

        int blocks() {
            return entries.position() / ObjectFormat.INDEX_ENTRY_BYTES;
        }

        /** The entries' bytes; the builder isn't used again. */
        ByteBuffer encode() {
            return entries.flip();
        }
    }
}
