package io.varve.tiering.core;

import java.nio.ByteBuffer;

/**
 * The end of an object: index, footer and trailer.
 *
 * <pre>
 *  trailer:
 *  0             4              8                16      18      20     24    32
 *  +-------------+--------------+----------------+-------+-------+------+-------+
 *  | index bytes | footer bytes | object length  | major | minor | crc  | magic |
 *  +-------------+--------------+----------------+-------+-------+------+-------+
 * </pre>
 *
 * Big-endian; {@code crc} covers the footer and the 20 bytes of the trailer before it.
 *
 * @param footer what the object says of itself
 * @param index where its blocks lie
 * @param crc the trailer's checksum, which stands for the whole object
 * @param length the object's length
 * @param major version of the writer
 * @param minor version of the writer
 */
public record ObjectTail(ObjectFooter footer, BlockIndex index, int crc, long length, int major, int minor) {

    static final int CRC_AT = 20;
    private static final int MAGIC_AT = 24;

    /** How many bytes this takes in memory, nearly. */
    public long memoryBytes() {
        return 1024
                + index.memoryBytes()
                + 64L * footer.sections().size()
                + 96L * footer.segments().size();
    }

    /** How a look at the last bytes of an object ended. */
    public sealed interface Result {
        /** The tail is longer than what was given. */
        record More(int bytes) implements Result {}

        /** Here it is. */
        record Found(ObjectTail tail) implements Result {}
    }

    /** The index, the footer and the trailer as they are written. */
    static ByteBuffer encode(ByteBuffer index, ObjectFooter footer, long indexPosition) {
        ByteBuffer foot = footer.encode();
        int bytes = index.remaining() + foot.remaining() + ObjectFormat.TRAILER_BYTES;
        ByteBuffer to = ByteBuffer.allocate(bytes);
        int footerAt = index.remaining();
        int footerBytes = foot.remaining();
        to.put(index.duplicate()).put(foot);
        to.putInt(footerAt)
                .putInt(footerBytes)
                .putLong(indexPosition + bytes)
                .putShort((short) ObjectFormat.MAJOR)
                .putShort((short) ObjectFormat.MINOR);
        to.putInt(Crc.of(to, footerAt, footerBytes + CRC_AT)).putLong(ObjectFormat.TRAILER_MAGIC);
        return to.flip();
    }

    /**
     * Reads the tail of an object.
     *
     * @param bytes the object's last bytes, from the position to the limit
     * @param objectLength how long the object is said to be
     * @return the tail, or how many last bytes are needed
     * @throws ObjectFormatException if they are damaged, or of a later major version
     */
    public static Result decode(ByteBuffer bytes, long objectLength) throws ObjectFormatException {
        if (bytes.remaining() < ObjectFormat.TRAILER_BYTES) {
            throw ObjectFormatException.corrupt("the object is shorter than a trailer");
        }
        ByteBuffer tail = bytes.slice();
        int trailerAt = tail.limit() - ObjectFormat.TRAILER_BYTES;
        if (tail.getLong(trailerAt + MAGIC_AT) != ObjectFormat.TRAILER_MAGIC) {
            throw ObjectFormatException.corrupt("the object doesn't end with the magic of a trailer");
        }
        int indexBytes = tail.getInt(trailerAt);
        int footerBytes = tail.getInt(trailerAt + 4);
        long needed = (long) indexBytes + footerBytes + ObjectFormat.TRAILER_BYTES;
        if (indexBytes < 0
                || footerBytes < 0
                || needed > ObjectFormat.TAIL_BYTES_MAX
                || needed > objectLength - ObjectFormat.HEADER_BYTES) {
            throw ObjectFormatException.corrupt("the trailer's lengths make no sense");
        }
        if (needed > tail.limit()) {
            return new Result.More((int) needed);
        }
        int footerAt = trailerAt - footerBytes;
        int crc = tail.getInt(trailerAt + CRC_AT);
        if (crc != Crc.of(tail, footerAt, footerBytes + CRC_AT)) {
            throw ObjectFormatException.corrupt("the footer's checksum is wrong");
        }
        int major = tail.getShort(trailerAt + 16);
        int minor = tail.getShort(trailerAt + 18);
        if (major > ObjectFormat.MAJOR) {
            throw ObjectFormatException.unsupported(
                    "format version " + major + "." + minor + ", this build reads up to " + ObjectFormat.MAJOR);
        }
        if (tail.getLong(trailerAt + 8) != objectLength) {
            throw ObjectFormatException.corrupt(
                    "the object has " + objectLength + " bytes and was written with " + tail.getLong(trailerAt + 8));
        }
        ObjectFooter footer =
                ObjectFooter.decode(tail.duplicate().position(footerAt).limit(trailerAt));
        BlockIndex index = index(tail, footerAt - indexBytes, indexBytes, footer);
        return new Result.Found(new ObjectTail(footer, index, crc, objectLength, major, minor));
    }

    private static BlockIndex index(ByteBuffer tail, int at, int bytes, ObjectFooter footer)
            throws ObjectFormatException {
        if (footer.indexEntryBytes() < ObjectFormat.INDEX_ENTRY_BYTES
                || (long) footer.indexEntryBytes() * footer.blocks() != bytes) {
            throw ObjectFormatException.corrupt("the index has " + bytes + " bytes for " + footer.blocks() + " blocks");
        }
        if (footer.indexCrc() != Crc.of(tail, at, bytes)) {
            throw ObjectFormatException.corrupt("the index's checksum is wrong");
        }
        BlockIndex index = BlockIndex.decode(
                tail.duplicate().position(at).limit(at + bytes),
                footer.blocks(),
                footer.indexEntryBytes(),
                footer.blocksEnd());
        checkCovers(index, footer);
        return index;
    }

    /** Every offset of the object is in a block: readers ask the index for any of them. */
    private static void checkCovers(BlockIndex index, ObjectFooter footer) throws ObjectFormatException {
        int blocks = index.blocks();
        boolean covers = blocks == 0
                ? footer.startOffset() == footer.endOffset()
                : index.firstOffset(0) == footer.startOffset() && index.firstOffset(blocks - 1) < footer.endOffset();
        if (!covers) {
            throw ObjectFormatException.corrupt("the blocks are not of the offsets " + footer.startOffset() + " to "
                    + footer.endOffset() + " that the footer speaks of");
        }
    }
}
