package io.varve.tiering.core;

import io.varve.base.PartitionId;
import io.varve.base.TopicId;
import java.nio.ByteBuffer;

/**
 * The first bytes of an object: enough to know what it is from its start alone. Readers that come by the tail never need it.
 *
 * <pre>
 *  0       8        10       12         16         32           36          40          48       56      60     64
 *  +-------+--------+--------+----------+----------+------------+-----------+-----------+--------+-------+------+
 *  | magic | major  | minor  | hdrBytes | topic id | partition  | flags (0) | attemptId | start  | rsvd  | crc  |
 *  +-------+--------+--------+----------+----------+------------+-----------+-----------+--------+-------+------+
 * </pre>
 *
 * Big-endian; {@code crc} covers the bytes before it.
 *
 * @param attemptId the upload's own number
 * @param startOffset the first offset held
 */
public record ObjectHeader(PartitionId partition, long attemptId, long startOffset) {

    private static final int CRC_AT = ObjectFormat.HEADER_BYTES - 4;

    /** The header's bytes, from 0 to the limit. */
    ByteBuffer encode() {
        ByteBuffer to = ByteBuffer.allocate(ObjectFormat.HEADER_BYTES);
        to.putLong(ObjectFormat.HEADER_MAGIC)
                .putShort((short) ObjectFormat.MAJOR)
                .putShort((short) ObjectFormat.MINOR)
                .putInt(ObjectFormat.HEADER_BYTES)
                .putLong(partition.topic().high())
                .putLong(partition.topic().low())
                .putInt(partition.index())
                .putInt(0)
                .putLong(attemptId)
                .putLong(startOffset)
                .putInt(0);
        to.putInt(Crc.of(to, 0, CRC_AT));
        return to.flip();
    }

    /**
     * Reads a header that starts at the buffer's position.
     *
     * @throws ObjectFormatException if it is damaged or of a later major version
     */
    public static ObjectHeader decode(ByteBuffer bytes) throws ObjectFormatException {
        if (bytes.remaining() < ObjectFormat.HEADER_BYTES) {
            throw ObjectFormatException.corrupt("the object is shorter than a header");
        }
        ByteBuffer from = bytes.slice();
        if (from.getLong(0) != ObjectFormat.HEADER_MAGIC) {
            throw ObjectFormatException.corrupt("the object doesn't start with the magic of a header");
        }
        if (from.getInt(CRC_AT) != Crc.of(from, 0, CRC_AT)) {
            throw ObjectFormatException.corrupt("the header's checksum is wrong");
        }
        if (from.getShort(8) > ObjectFormat.MAJOR) {
            throw ObjectFormatException.unsupported("format version " + from.getShort(8) + "." + from.getShort(10));
        }
        int index = from.getInt(32);
        if (index < 0) {
            throw ObjectFormatException.corrupt("the header names a negative partition");
        }
        return new ObjectHeader(
                new PartitionId(new TopicId(from.getLong(16), from.getLong(24)), index),
                from.getLong(40),
                from.getLong(48));
    }
}
