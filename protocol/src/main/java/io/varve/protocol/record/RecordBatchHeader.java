package io.varve.protocol.record;

import java.nio.ByteBuffer;
import java.util.OptionalInt;
import java.util.zip.CRC32C;

/**
 * The header of a Kafka record batch of version 2 (KIP-98), read and patched where it lies.
 *
 * <pre>
 *  0      8        12      16      17    21           23           27       35       43
 *  +------+--------+-------+-------+-----+------------+------------+--------+--------+
 *  | base | length | epoch | magic | crc | attributes | last delta | base   | max    |
 *  | off. |        |       |       |     |            |            | time   | time   |
 *  +------+--------+-------+-------+-----+------------+------------+--------+--------+
 *  43            51               53              57      61
 *  +-------------+----------------+---------------+-------+---------+
 *  | producer id | producer epoch | base sequence | count | records |
 *  +-------------+----------------+---------------+-------+---------+
 * </pre>
 *
 * Big-endian. {@code length} counts what follows it. {@code crc} is a CRC32C from {@code attributes} to the end: base offset, length and epoch are outside, which
 * is what lets a broker set them in place. All methods take the position of the batch's first byte and leave the buffer's position and limit
 * alone; none checks that the bytes are there, except {@link #isWhole} and {@link #isIntact}.
 */
public final class RecordBatchHeader {

    /** Bytes before the records. */
    public static final int BYTES = 61;

    /** The only version that Varve stores. */
    public static final byte MAGIC = 2;

    /** No idempotent producer. */
    public static final long NO_PRODUCER_ID = -1;

    /** No time is known. */
    public static final long NO_TIMESTAMP = -1;

    /** Bytes that {@code length} does not count: the base offset and itself. */
    public static final int LENGTH_PREFIX_BYTES = 12;

    private static final int LENGTH_AT = 8;
    private static final int EPOCH_AT = 12;
    private static final int MAGIC_AT = 16;
    private static final int CRC_AT = 17;
    private static final int ATTRIBUTES_AT = 21;
    private static final int LAST_DELTA_AT = 23;
    private static final int BASE_TIMESTAMP_AT = 27;
    private static final int MAX_TIMESTAMP_AT = 35;
    private static final int PRODUCER_ID_AT = 43;
    private static final int PRODUCER_EPOCH_AT = 51;
    private static final int BASE_SEQUENCE_AT = 53;
    private static final int COUNT_AT = 57;

    private static final int COMPRESSION_BITS = 0x07;
    private static final int LOG_APPEND_TIME_BIT = 0x08;
    private static final int TRANSACTIONAL_BIT = 0x10;
    private static final int CONTROL_BIT = 0x20;
    private static final int DELETE_HORIZON_BIT = 0x40;

    private RecordBatchHeader() {}

    /** The offset of the first record. */
    public static long baseOffset(ByteBuffer in, int at) {
        return in.getLong(at);
    }

    /** Sets the offset of the first record; the checksum is not touched by it. */
    public static void setBaseOffset(ByteBuffer in, int at, long baseOffset) {
        in.putLong(at, baseOffset);
    }

    /** Bytes of the whole batch, header included, as it claims: check it before use. */
    public static int sizeInBytes(ByteBuffer in, int at) {
        int length = in.getInt(at + LENGTH_AT);
        return length > Integer.MAX_VALUE - LENGTH_PREFIX_BYTES ? Integer.MAX_VALUE : length + LENGTH_PREFIX_BYTES;
    }

    /** The leader epoch under which it was appended. */
    public static int leaderEpoch(ByteBuffer in, int at) {
        return in.getInt(at + EPOCH_AT);
    }

    /** Sets the leader epoch; the checksum is not touched by it. */
    public static void setLeaderEpoch(ByteBuffer in, int at, int epoch) {
        in.putInt(at + EPOCH_AT, epoch);
    }

    /** The version. It stands at the same place in all versions. */
    public static byte magic(ByteBuffer in, int at) {
        return in.get(at + MAGIC_AT);
    }

    /** The checksum that it claims. */
    public static int crc(ByteBuffer in, int at) {
        return in.getInt(at + CRC_AT);
    }

    /** All attribute bits. */
    public static short attributes(ByteBuffer in, int at) {
        return in.getShort(at + ATTRIBUTES_AT);
    }

    /** Kafka's number of the codec: 0 none, 1 gzip, 2 snappy, 3 lz4, 4 zstd. */
    public static int compression(ByteBuffer in, int at) {
        return attributes(in, at) & COMPRESSION_BITS;
    }

    /** Whether the records' time is that of their append rather than their creation. */
    public static boolean isLogAppendTime(ByteBuffer in, int at) {
        return (attributes(in, at) & LOG_APPEND_TIME_BIT) != 0;
    }

    /** Whether it is part of a transaction. */
    public static boolean isTransactional(ByteBuffer in, int at) {
        return (attributes(in, at) & TRANSACTIONAL_BIT) != 0;
    }

    /** Whether it holds a control record, such as a transaction's marker, which consumers don't see. */
    public static boolean isControl(ByteBuffer in, int at) {
        return (attributes(in, at) & CONTROL_BIT) != 0;
    }

    /**
     * Whether {@link #baseTimestampMs} is also the time from which on compaction may leave out the tombstones or the marker in it (KIP-534). The
     * records count their times from it as ever.
     */
    public static boolean hasDeleteHorizon(ByteBuffer in, int at) {
        return (attributes(in, at) & DELETE_HORIZON_BIT) != 0;
    }

    /**
     * Whether it holds nothing at all: no record, no marker, no word of a producer. Such a batch only spans offsets that compaction left
     * nothing at.
     */
    public static boolean isPadding(ByteBuffer in, int at) {
        return count(in, at) == 0 && !isControl(in, at) && producerId(in, at) == NO_PRODUCER_ID;
    }

    /** The last offset, inclusive. After compaction the records may end before it. */
    public static long lastOffset(ByteBuffer in, int at) {
        return baseOffset(in, at) + in.getInt(at + LAST_DELTA_AT);
    }

    /** The last record's offset from the base. */
    public static int lastOffsetDelta(ByteBuffer in, int at) {
        return in.getInt(at + LAST_DELTA_AT);
    }

    /** Milliseconds since 1970 from which the records count theirs, or -1. */
    public static long baseTimestampMs(ByteBuffer in, int at) {
        return in.getLong(at + BASE_TIMESTAMP_AT);
    }

    /** The largest time of a record, milliseconds since 1970, or -1. */
    public static long maxTimestampMs(ByteBuffer in, int at) {
        return in.getLong(at + MAX_TIMESTAMP_AT);
    }

    /** The idempotent producer's id, or {@link #NO_PRODUCER_ID}. */
    public static long producerId(ByteBuffer in, int at) {
        return in.getLong(at + PRODUCER_ID_AT);
    }

    /** The idempotent producer's epoch, or -1. */
    public static short producerEpoch(ByteBuffer in, int at) {
        return in.getShort(at + PRODUCER_EPOCH_AT);
    }

    /** The first record's sequence number, or -1. Sequence numbers wrap round to 0 after 2^31 - 1. */
    public static int baseSequence(ByteBuffer in, int at) {
        return in.getInt(at + BASE_SEQUENCE_AT);
    }

    /** The last record's sequence number, or -1. */
    public static int lastSequence(ByteBuffer in, int at) {
        int base = baseSequence(in, at);
        return base < 0 ? base : (int) (((long) base + lastOffsetDelta(in, at)) & Integer.MAX_VALUE);
    }

    /** How many records it says it has. */
    public static int count(ByteBuffer in, int at) {
        return in.getInt(at + COUNT_AT);
    }

    /**
     * Whether a batch of this version stands at {@code at} with all its bytes below the buffer's limit and with numbers that can be. Says nothing of
     * its checksum. Never throws for what it finds.
     */
    public static boolean isWhole(ByteBuffer in, int at) {
        if (at < 0 || in.limit() - at < BYTES || magic(in, at) != MAGIC) {
            return false;
        }
        int size = sizeInBytes(in, at);
        return size >= BYTES
                && size <= in.limit() - at
                && lastOffsetDelta(in, at) >= 0
                && count(in, at) >= 0
                && baseOffset(in, at) >= 0
                && lastOffset(in, at) >= 0;
    }

    /** Whether a {@linkplain #isWhole whole} batch with the checksum that it claims stands there. Never throws for what it finds. */
    public static boolean isIntact(ByteBuffer in, int at) {
        return isWhole(in, at) && checksum(in, at) == crc(in, at);
    }

    /** The checksum of a {@linkplain #isWhole whole} batch. */
    public static int checksum(ByteBuffer in, int at) {
        CRC32C crc = new CRC32C();
        ByteBuffer covered = in.duplicate();
        crc.update(covered.limit(at + sizeInBytes(in, at)).position(at + ATTRIBUTES_AT));
        return (int) crc.getValue();
    }

    /**
     * Makes it a batch of {@code sizeBytes}, header included, of so many records with these times, and gives it the checksum of what stands there then.
     *
     * @param deleteHorizon whether {@code baseTimestampMs} is a {@linkplain #hasDeleteHorizon delete horizon}
     */
    public static void rewrite(
            ByteBuffer in,
            int at,
            int sizeBytes,
            int count,
            long baseTimestampMs,
            long maxTimestampMs,
            boolean deleteHorizon) {
        short attributes = attributes(in, at);
        in.putInt(at + LENGTH_AT, sizeBytes - LENGTH_PREFIX_BYTES);
        in.putShort(at + ATTRIBUTES_AT, (short)
                (deleteHorizon ? attributes | DELETE_HORIZON_BIT : attributes & ~DELETE_HORIZON_BIT));
        in.putLong(at + BASE_TIMESTAMP_AT, baseTimestampMs);
        in.putLong(at + MAX_TIMESTAMP_AT, maxTimestampMs);
        in.putInt(at + COUNT_AT, count);
        in.putInt(at + CRC_AT, checksum(in, at));
    }

    /**
     * What is left of a batch of which no record stays: its header, which still says whose it was and with which sequence numbers, so that an idempotent
     * producer's numbers go on from it.
     */
    public static ByteBuffer emptied(ByteBuffer in, int at) {
        ByteBuffer to = ByteBuffer.allocate(BYTES).put(0, in, at, BYTES);
        to.putShort(ATTRIBUTES_AT, (short) (attributes(in, at) & ~COMPRESSION_BITS));
        rewrite(to, 0, BYTES, 0, NO_TIMESTAMP, NO_TIMESTAMP, false);
        return to;
    }

    /** A new {@linkplain #isPadding padding} from {@code baseOffset} to {@code lastOffset}, inclusive and at most 2^31 - 1 apart. */
    public static ByteBuffer padding(long baseOffset, long lastOffset, int leaderEpoch) {
        ByteBuffer to = ByteBuffer.allocate(BYTES);
        to.putLong(0, baseOffset);
        to.putInt(EPOCH_AT, leaderEpoch);
        to.put(MAGIC_AT, MAGIC);
        to.putInt(LAST_DELTA_AT, Math.toIntExact(lastOffset - baseOffset));
        to.putLong(PRODUCER_ID_AT, NO_PRODUCER_ID);
        to.putShort(PRODUCER_EPOCH_AT, (short) -1);
        to.putInt(BASE_SEQUENCE_AT, -1);
        rewrite(to, 0, BYTES, 0, NO_TIMESTAMP, NO_TIMESTAMP, false);
        return to;
    }

    /**
     * The type of the control record of a {@linkplain #isWhole whole}, uncompressed control batch: 0 aborts, 1 commits, others are of no concern to
     * consumers; empty if the record is malformed.
     */
    public static OptionalInt controlType(ByteBuffer in, int at) {
        VarintReader record = new VarintReader(in, at + BYTES, at + sizeInBytes(in, at));
        record.varint(); // The record's length.
        record.skip(1); // Its attributes.
        record.varint(); // The time's distance from the base.
        record.varint(); // The offset's.
        long keyBytes = record.varint();
        record.skip(Short.BYTES); // The key's version.
        int typeAt = record.position();
        record.skip(Short.BYTES);
        return record.isBroken() || keyBytes < 2 * Short.BYTES
                ? OptionalInt.empty()
                : OptionalInt.of(in.getShort(typeAt));
    }
}
