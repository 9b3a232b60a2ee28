package io.varve.serving.core.compaction;

import java.nio.ByteBuffer;

/**
 * Goes through the records of a batch, inflated, one after the other, without an object for any. The form is drawn in {@code RecordWalk}. One thread;
 * the buffer must stay as it is.
 */
final class RecordCursor {

    private static final int VARINT_SHIFT_MAX = 28;
    private static final int VARLONG_SHIFT_MAX = 63;

    private final ByteBuffer in;
    private final int end;
    private int next;
    private int left;

    private byte attributes;
    private long timestampDeltaMs;
    private int offsetDelta;
    private int afterDeltas;
    private int recordAt;
    private int recordEnd;
    private int keyAt;
    private int keyBytes;
    private int valueBytes;

    /** @param records from its position to its limit */
    RecordCursor(ByteBuffer records, int count) {
        in = records;
        next = records.position();
        end = records.limit();
        left = count;
    }

    /**
     * Steps to the next record.
     *
     * @return false after the last
     * @throws BatchFormatException if it isn't one, or if something follows the last
     */
    boolean next() {
        if (left == 0) {
            check(next == end);
            return false;
        }
        left--;
        recordEnd = end;
        recordAt = next;
        int length = varint();
        check(length >= 0 && length <= end - next);
        recordEnd = next + length;
        attributes = read();
        timestampDeltaMs = varlong();
        offsetDelta = varint();
        afterDeltas = next;
        keyBytes = varint();
        keyAt = next;
        skip(keyBytes);
        valueBytes = varint();
        skip(valueBytes);
        next = recordEnd;
        return true;
    }

    byte attributes() {
        return attributes;
    }

    long timestampDeltaMs() {
        return timestampDeltaMs;
    }

    int offsetDelta() {
        return offsetDelta;
    }

    /** With its length. */
    int recordBytes() {
        return recordEnd - recordAt;
    }

    /** Where key, value and headers stand, with their lengths, up to {@link #recordEnd}. */
    int afterDeltas() {
        return afterDeltas;
    }

    /** Exclusive. */
    int recordEnd() {
        return recordEnd;
    }

    int keyAt() {
        return keyAt;
    }

    /** -1 without a key. */
    int keyBytes() {
        return keyBytes;
    }

    boolean isTombstone() {
        return valueBytes < 0;
    }

    private void skip(int bytes) {
        check(bytes >= -1 && bytes <= recordEnd - next);
        next += Math.max(0, bytes);
    }

    private int varint() {
        int raw = 0;
        for (int shift = 0; shift <= VARINT_SHIFT_MAX; shift += 7) {
            byte b = read();
            raw |= (b & 0x7f) << shift;
            if (b >= 0) {
                return raw >>> 1 ^ -(raw & 1);
            }
        }
        throw malformed();
    }

    private long varlong() {
        long raw = 0;
        for (int shift = 0; shift <= VARLONG_SHIFT_MAX; shift += 7) {
            byte b = read();
            raw |= (long) (b & 0x7f) << shift;
            if (b >= 0) {
                return raw >>> 1 ^ -(raw & 1);
            }
        }
        throw malformed();
    }

    private byte read() {
        check(next < recordEnd);
        return in.get(next++);
    }

    private static void check(boolean holds) {
        if (!holds) {
            throw malformed();
        }
    }

    private static BatchFormatException malformed() {
        return new BatchFormatException("the records of a batch are malformed");
    }
}
