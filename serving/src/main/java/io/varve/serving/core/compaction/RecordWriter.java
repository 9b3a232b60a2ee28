package io.varve.serving.core.compaction;

import java.nio.ByteBuffer;
import java.util.Arrays;

/** Writes records one after the other, plain, into memory that grows with the largest batch and is used again and again. One thread. */
final class RecordWriter {

    private static final int CAPACITY_MIN = 4 << 10;
    /** More than this isn't kept from batch to batch. */
    private static final int CAPACITY_KEPT_MAX = 4 << 20;
    /** Of length, attributes and both deltas. */
    private static final int PREFIX_BYTES_MAX = 5 + 1 + 10 + 5;

    private byte[] bytes = new byte[CAPACITY_MIN];
    private int size;
    private int count;

    /** Begins with so many bytes left free. */
    void begin(int headroomBytes) {
        if (bytes.length > CAPACITY_KEPT_MAX) {
            bytes = new byte[CAPACITY_MIN];
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
        ensure(PREFIX_BYTES_MAX + restBytes);
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

    private void ensure(int more) {
        if (more > bytes.length - size) {
            bytes = Arrays.copyOf(bytes, (int)
                    Math.max(size + (long) more, Math.min(2L * bytes.length, Integer.MAX_VALUE - 8)));
        }
    }
}
