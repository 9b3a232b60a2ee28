package io.varve.bookie.core;

import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;

/**
 * A journal file's bytes.
 *
 * <pre>
 *  block 0      header                        blocks 1…   groups                    last block   reach
 *  +---------+---------+-----------+------------+-------------+--------+------+     +---------+-------+--------+--------+------+
 *  | "VJNL"4 | version4| file no. 8| file bytes8| incarnation8| crc32c4| zeros| ... | "VJRC"4 | file 4| reach 8| crc32c4| zeros|
 *  +---------+---------+-----------+------------+-------------+--------+------+     +---------+-------+--------+--------+------+
 * </pre>
 *
 * No group of the file's present life stands at or beyond the reach ({@link JournalReach}). A file without an intact one may hold groups up to its end.
 *
 * A group is what one fsync made durable. It starts at a block of 4096 bytes, holds records one after the other, each aligned to 8 bytes, and is
 * padded with zeros to the next block. The next group is written only after the fsync of the one before.
 *
 * <pre>
 *  0       4     5          8       12       16         24
 *  +-------+-----+----------+--------+--------+----------+--------------+-----------+
 *  |crc32c4|type1|group 3   |length 4|file 4  |sequence 8| fixed part   | payload   |
 *  +-------+-----+----------+--------+--------+----------+--------------+-----------+
 * </pre>
 *
 * Big-endian. The checksum covers the header from byte 4 on and the fixed part; the payload has its own. {@code type}'s top bit marks the
 * last record of its group. {@code group} is the block at which the group starts. {@code file} is a tag of the file's number, which is never used
 * again when the file is, and of the directory's incarnation: stale records of the file's earlier lives can't be mistaken, nor can what a client
 * puts into its payload. {@code length} counts fixed part and payload. {@code sequence} rises by one from record to record, across files.
 *
 * <p>Why the group is in each record: a power cut may leave any subset of the blocks of the last group, in any order. A bad record with a valid
 * one of the <em>same</em> group behind it is a torn tail; with one of a <em>later</em> group behind it, it was durable once, and is corruption (I-18).
 */
public final class JournalFormat {

    /** Unit of writing. */
    public static final int BLOCK_BYTES = 4096;

    /** Bytes of a record before the fixed part. */
    public static final int RECORD_HEADER_BYTES = 24;

    /** Records start at multiples of this. */
    public static final int RECORD_ALIGNMENT = 8;

    /** A file is at most this long: {@code group} has 24 bits, and in indexes a position, counted in eights, has 31. */
    public static final long FILE_BYTES_MAX = 1L << 34;

    /** Bytes in front of an entry's own header in an ENTRY record. */
    public static final int ENTRY_AT = RECORD_HEADER_BYTES + 16;

    /** The longest record there can be, without alignment. */
    public static final int RECORD_BYTES_MAX = ENTRY_AT + EntryFormat.HEADER_BYTES + EntryFormat.PAYLOAD_BYTES_MAX;

    private static final int MAGIC = 0x564a4e4c; // VJNL
    private static final int VERSION = 1;
    private static final int FILE_CRC_AT = 32;
    private static final int REACH_MAGIC = 0x564a5243; // VJRC
    private static final int REACH_CRC_AT = 16;
    private static final int LAST_OF_GROUP = 0x80;

    private JournalFormat() {}

    /** Rounds up to a whole block. */
    public static long blockAligned(long bytes) {
        return (bytes + BLOCK_BYTES - 1) & -BLOCK_BYTES;
    }

    /** Rounds up to where the next record starts. */
    public static int recordAligned(int bytes) {
        return (bytes + RECORD_ALIGNMENT - 1) & -RECORD_ALIGNMENT;
    }

    /** Memory outside the heap that starts at a multiple of a block, as unbuffered writes want it. */
    public static ByteBuffer blocks(int bytes) {
        int whole = (int) blockAligned(bytes);
        return ByteBuffer.allocateDirect(whole + BLOCK_BYTES)
                .alignedSlice(BLOCK_BYTES)
                .slice(0, whole);
    }

    /** The room a record takes. */
    public static int recordBytes(RecordType type, int payloadBytes) {
        return recordAligned(RECORD_HEADER_BYTES + type.fixedBytes() + payloadBytes);
    }

    /** What the records of a file carry. */
    public static int fileTag(long fileNumber, long incarnation) {
        long mixed = (fileNumber ^ incarnation) * 0x9e3779b97f4a7c15L;
        mixed = (mixed ^ mixed >>> 32) * 0xd6e8feb86659fd93L;
        return (int) (mixed ^ mixed >>> 32);
    }

    /** A file's header, one block, ready to be written. */
    public static ByteBuffer fileHeader(long fileNumber, long fileBytes, long incarnation) {
        ByteBuffer header = blocks(BLOCK_BYTES);
        header.putInt(0, MAGIC)
                .putInt(4, VERSION)
                .putLong(8, fileNumber)
                .putLong(16, fileBytes)
                .putLong(24, incarnation);
        header.putInt(FILE_CRC_AT, checksum(header, 0, FILE_CRC_AT));
        return header;
    }

    /** Whether a block is the header of some journal file. */
    public static boolean isAnyFileHeader(ByteBuffer block) {
        return block.remaining() >= BLOCK_BYTES
                && isFileHeader(block, block.getLong(8), block.getLong(16), block.getLong(24));
    }

    /** The number in a file's header. */
    public static long headerFileNumber(ByteBuffer header) {
        return header.getLong(8);
    }

    /** The directory's incarnation in a file's header. */
    public static long headerIncarnation(ByteBuffer header) {
        return header.getLong(24);
    }

    /** Whether a block is the header of that file of that directory. */
    public static boolean isFileHeader(ByteBuffer block, long fileNumber, long fileBytes, long incarnation) {
        return block.remaining() >= BLOCK_BYTES
                && block.getInt(0) == MAGIC
                && block.getInt(4) == VERSION
                && block.getLong(8) == fileNumber
                && block.getLong(16) == fileBytes
                && block.getLong(24) == incarnation
                && block.getInt(FILE_CRC_AT) == checksum(block, 0, FILE_CRC_AT);
    }

    /** Where the room for groups ends in a file of that length: the last block holds the reach. */
    public static long groupsEnd(long fileBytes) {
        return fileBytes - BLOCK_BYTES;
    }

    /** A file's last block, ready to be written. */
    public static ByteBuffer reachBlock(int fileTag, long reach) {
        ByteBuffer block = blocks(BLOCK_BYTES);
        block.putInt(0, REACH_MAGIC).putInt(4, fileTag).putLong(8, reach);
        block.putInt(REACH_CRC_AT, checksum(block, 0, REACH_CRC_AT));
        return block;
    }

    /** The reach that a file's last block holds, or -1 if it isn't intact or not of the file's present life. */
    public static long reach(ByteBuffer block, int fileTag) {
        boolean intact = block.remaining() >= BLOCK_BYTES
                && block.getInt(0) == REACH_MAGIC
                && block.getInt(4) == fileTag
                && block.getInt(REACH_CRC_AT) == checksum(block, 0, REACH_CRC_AT);
        return intact ? block.getLong(8) : -1;
    }

    /**
     * Completes a record whose fixed part is in place already.
     *
     * @param at where the record starts
     * @param length fixed part and payload
     */
    public static void putRecordHeader(
            ByteBuffer to,
            int at,
            RecordType type,
            boolean last,
            int groupBlock,
            int length,
            int fileTag,
            long sequence,
            Checksummer checksummer) {
        to.putInt(at + 4, ((last ? type.code() | LAST_OF_GROUP : type.code()) << 24) | groupBlock)
                .putInt(at + 8, length)
                .putInt(at + 12, fileTag)
                .putLong(at + 16, sequence);
        to.putInt(at, checksummer.checksum(to, at + 4, RECORD_HEADER_BYTES - 4 + type.fixedBytes()));
    }

    /** Marks a complete record as the last of its group. */
    public static void markLast(ByteBuffer in, int at) {
        RecordType type = type(in, at);
        in.putInt(at + 4, in.getInt(at + 4) | LAST_OF_GROUP << 24);
        in.putInt(at, checksum(in, at + 4, RECORD_HEADER_BYTES - 4 + type.fixedBytes()));
    }

    /** The type of the record at {@code at}, or {@code null} if there is no such type. */
    public static RecordType type(ByteBuffer in, int at) {
        return RecordType.ofCode(in.get(at + 4) & ~LAST_OF_GROUP & 0xff);
    }

    /** Whether it is the last of its group. */
    public static boolean isLast(ByteBuffer in, int at) {
        return (in.get(at + 4) & LAST_OF_GROUP) != 0;
    }

    /** The block its group starts at. */
    public static int groupBlock(ByteBuffer in, int at) {
        return in.getInt(at + 4) & 0xffffff;
    }

    /** Fixed part and payload. */
    public static int length(ByteBuffer in, int at) {
        return in.getInt(at + 8);
    }

    /** The tag of the file it was written to. */
    public static int fileTag(ByteBuffer in, int at) {
        return in.getInt(at + 12);
    }

    /** Its place in the journal's order. */
    public static long sequence(ByteBuffer in, int at) {
        return in.getLong(at + 16);
    }

    /** Where the fixed part starts. */
    public static int fixedAt(int at) {
        return at + RECORD_HEADER_BYTES;
    }

    /** The checksum as the record claims it. */
    public static int claimedChecksum(ByteBuffer in, int at) {
        return in.getInt(at);
    }

    /** The checksum that header and fixed part should have; they must lie below the buffer's limit. */
    public static int headChecksum(ByteBuffer in, int at, RecordType type) {
        return checksum(in, at + 4, RECORD_HEADER_BYTES - 4 + type.fixedBytes());
    }

    /** CRC32C of part of a buffer, whose position and limit are left alone. */
    public static int checksum(ByteBuffer of, int at, int bytes) {
        return new Checksummer().checksum(of, at, bytes);
    }
}
