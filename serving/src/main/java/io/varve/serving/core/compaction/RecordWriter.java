package io.varve.serving.core.compaction;

import io.varve.base.Invariant;
import java.nio.ByteBuffer;

/** Writes records one after the other, plain, into memory that is used again and again. One thread. */
final class RecordWriter {

    private static final int CAPACITY_MIN = 4 << 10;
    /** More than this isn't kept from batch to batch. */
    private static final int CAPACITY_KEPT_MAX = 4 << 20;
    /** What a record may grow by when its time counts from another base: nine bytes of that, and one of its length. */
    static final int GROWTH_BYTES_MAX = 10;

    private byte[] bytes = new byte[CAPACITY_MIN];
    private int size;
    private int count;

    /**
     * Begins.
     *
     * @param headroomBytes left free
     * @param recordBytesMax of all that will be added
     */
    void begin(int headroomBytes, long recordBytesMax) {
        long needed = headroomBytes + recordBytesMax;
        Invariant.check(needed <= Integer.MAX_VALUE - 8, "a batch fits into an array", needed);
        if (bytes.length > CAPACITY_KEPT_MAX || bytes.length < needed) {
            // Not grown step by step: a batch may be as large as there is memory for it once.
            bytes = new byte[(int) Math.max(CAPACITY_MIN, needed)];
        }
        size = headroomBytes;
        count = 0;
    }

    int count() {
        return count;
    }

    /** Writes the cursor's record with another time delta. */
    void add(ByteBuffer from, RecordCursor record, long timestampDeltaMs) {
        int restBytes = record.recordEnd() - record.afterDeltas();
        long zigZagTime = timestampDeltaMs << 1 ^ timestampDeltaMs >> 63;
        int zigZagOffset = record.offsetDelta() << 1 ^ record.offsetDelta() >> 31;
        int length = 1 + varintBytes(zigZagTime) + varintBytes(Integer.toUnsignedLong(zigZagOffset)) + restBytes;
        varint(Integer.toUnsignedLong(length << 1));
        bytes[size++] = record.attributes();
        varint(zigZagTime);
        varint(Integer.toUnsignedLong(zigZagOffset));
        from.get(record.afterDeltas(), bytes, size, restBytes);
        size += restBytes;
        count++;
    }

    /** All of it, headroom included: valid until the next {@link #begin}. */
    ByteBuffer written() {
        return ByteBuffer.wrap(bytes, 0, size);
    }

    private void varint(long raw) {
        long rest = raw;
        while ((rest & ~0x7fL) != 0) {
            bytes[size++] = (byte) (rest & 0x7f | 0x80);
            rest >>>= 7;
        }
        bytes[size++] = (byte) rest;
    }

    private static int varintBytes(long raw) {
        return Math.max(1, (Long.SIZE - Long.numberOfLeadingZeros(raw) + 6) / 7);
    }
}
