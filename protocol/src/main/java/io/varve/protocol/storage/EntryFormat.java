package io.varve.protocol.storage;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/**
 * An entry's bytes: the same on the wire, in the journal, in settled files and in objects, so that the checksum the owner made is the
 * one that every later reader checks.
 *
 * <pre>
 *  0        8        16       20       24
 *  +--------+--------+--------+--------+------------------+
 *  | first  | last   | length | crc32c | payload (length) |
 *  +--------+--------+--------+--------+------------------+
 * </pre>
 *
 * Big-endian. {@code first} and {@code last} are the offsets of the first and last record, {@code length} counts the payload only, and
 * {@code crc32c} covers the 20 bytes before it and the payload. The payload is one Kafka record batch with its offsets assigned.
 */
public final class EntryFormat {

    /** Bytes before the payload. */
    public static final int HEADER_BYTES = 24;

    /** The largest payload that any part of Varve takes. */
    public static final int PAYLOAD_BYTES_MAX = 64 * 1024 * 1024;

    private static final int LAST_AT = 8;
    private static final int LENGTH_AT = 16;
    private static final int CRC_AT = 20;

    private EntryFormat() {}

    /** The first offset of the entry whose header starts at {@code at}. */
    public static long firstOffset(ByteBuffer buffer, int at) {
        return buffer.getLong(at);
    }

    /** The last offset, inclusive. */
    public static long lastOffset(ByteBuffer buffer, int at) {
        return buffer.getLong(at + LAST_AT);
    }

    /** The payload's length as the header claims it: check it before use. */
    public static int payloadLength(ByteBuffer buffer, int at) {
        return buffer.getInt(at + LENGTH_AT);
    }

    /** The checksum as the header claims it. */
    public static int crc(ByteBuffer buffer, int at) {
        return buffer.getInt(at + CRC_AT);
    }

    /** Whether a header's numbers can be those of an entry at all. */
    public static boolean isPlausible(long firstOffset, long lastOffset, int payloadLength) {
        return firstOffset >= 0
                && lastOffset >= firstOffset
                && payloadLength >= 0
                && payloadLength <= PAYLOAD_BYTES_MAX;
    }

    /**
     * The checksum of an entry.
     *
     * @param payload from its position to its limit; neither moves
     */
    public static int checksum(long firstOffset, long lastOffset, ByteBuffer payload) {
        ByteBuffer head = ByteBuffer.allocate(CRC_AT);
        head.putLong(firstOffset)
                .putLong(lastOffset)
                .putInt(payload.remaining())
                .flip();
        CRC32C crc = new CRC32C();
        crc.update(head);
        crc.update(payload.duplicate());
        return (int) crc.getValue();
    }

    /** Writes a header at the buffer's position and moves it past. */
    public static void putHeader(ByteBuffer to, long firstOffset, long lastOffset, int payloadLength, int crc) {
        to.putLong(firstOffset).putLong(lastOffset).putInt(payloadLength).putInt(crc);
    }

    /**
     * Whether a whole entry stands at {@code at}, below the buffer's limit, with a checksum that fits. Never throws for what it finds.
     */
    public static boolean isIntact(ByteBuffer buffer, int at) {
        if (at < 0 || buffer.limit() - at < HEADER_BYTES) {
            return false;
        }
        int length = payloadLength(buffer, at);
        if (!isPlausible(firstOffset(buffer, at), lastOffset(buffer, at), length)
                || buffer.limit() - at - HEADER_BYTES < length) {
            return false;
        }
        ByteBuffer covered = buffer.duplicate();
        CRC32C crc = new CRC32C();
        crc.update(covered.limit(at + CRC_AT).position(at));
        crc.update(covered.limit(at + HEADER_BYTES + length).position(at + HEADER_BYTES));
        return (int) crc.getValue() == crc(buffer, at);
    }
}
