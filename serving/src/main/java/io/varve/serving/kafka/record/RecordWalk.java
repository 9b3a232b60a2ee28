package io.varve.serving.kafka.record;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;

/**
 * Walks the records of a batch without an object for any of them: where they lie, or through a window on what a codec inflates.
 *
 * <pre>
 * record: length varint | attributes 1 | time delta varlong | offset delta varint | key length varint | key
 *         | value length varint | value | header count varint | headers
 * header: key length varint | key | value length varint | value
 * </pre>
 *
 * Numbers are zig-zag coded; a length of -1 is null. One use, by one thread.
 */
final class RecordWalk {

    private static final int VARINT_BYTES_MAX = 5;
    private static final int VARLONG_BYTES_MAX = 10;

    private final ByteBuffer window;
    private final InputStream more;

    /** Bytes of the records before the window's first. */
    private long windowStart;

    private int at;
    private int end;
    private boolean malformed;

    private RecordWalk(ByteBuffer window, int at, int end, InputStream more) {
        this.window = window;
        this.at = at;
        this.end = end;
        this.more = more;
    }

    /**
     * Hands every record of an uncompressed batch to {@code check}.
     *
     * @param batch from its first byte at index 0 to its limit; not moved
     * @return whether what follows the header is exactly {@code count} well-formed records
     */
    static boolean plain(ByteBuffer batch, long baseTimestampMs, int count, RecordCheck check) {
        try {
            return new RecordWalk(batch, BatchHeader.BYTES, batch.limit(), null).walk(baseTimestampMs, count, check);
        } catch (IOException e) {
            throw new IllegalStateException("No stream was read.", e);
        }
    }

    /**
     * Hands every record of {@code inflated} to {@code check}.
     *
     * @param window backed by an array; overwritten
     * @return whether the stream is exactly {@code count} well-formed records
     * @throws IOException if the codec can't inflate it
     */
    static boolean inflated(InputStream inflated, ByteBuffer window, long baseTimestampMs, int count, RecordCheck check)
            throws IOException {
        return new RecordWalk(window, 0, 0, inflated).walk(baseTimestampMs, count, check);
    }

    private boolean walk(long baseTimestampMs, int count, RecordCheck check) throws IOException {
        for (int i = 0; i < count; i++) {
            if (!next(baseTimestampMs, check)) {
                return false;
            }
        }
        check.onEnd(position());
        return at == end && !refill();
    }

    private boolean next(long baseTimestampMs, RecordCheck check) throws IOException {
        int length = varint();
        long recordEnd = position() + length;
        read(); // attributes: unused in v2
        long timestampDelta = varlong();
        int offsetDelta = varint();
        int keyLength = varint();
        skip(keyLength, recordEnd);
        skip(varint(), recordEnd);
        int headers = varint();
        malformed |= headers < 0 || headers > recordEnd - position();
        for (int h = 0; h < headers && !malformed; h++) {
            int headerKeyLength = varint();
            malformed |= headerKeyLength < 0;
            skip(headerKeyLength, recordEnd);
            skip(varint(), recordEnd);
        }
        if (malformed || position() != recordEnd) {
            return false;
        }
        check.onRecord(baseTimestampMs + timestampDelta, offsetDelta, keyLength >= 0);
        return true;
    }

    private long position() {
        return windowStart + at;
    }

    /** Steps over {@code length} bytes, or over nothing if it says null. */
    private void skip(int length, long recordEnd) throws IOException {
        malformed |= length < -1 || length > recordEnd - position();
        int left = length;
        while (left > 0 && !malformed) {
            int step = Math.min(left, end - at);
            at += step;
            left -= step;
            malformed = left > 0 && !refill();
        }
    }

    private int varint() throws IOException {
        int value = 0;
        for (int i = 0; i < VARINT_BYTES_MAX; i++) {
            byte b = read();
            value |= (b & 0x7f) << (7 * i);
            if (b >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        malformed = true;
        return 0;
    }

    private long varlong() throws IOException {
        long value = 0;
        for (int i = 0; i < VARLONG_BYTES_MAX; i++) {
            byte b = read();
            value |= (long) (b & 0x7f) << (7 * i);
            if (b >= 0) {
                return (value >>> 1) ^ -(value & 1);
            }
        }
        malformed = true;
        return 0;
    }

    /** The next byte; 0 and {@link #malformed} when there is none. */
    private byte read() throws IOException {
        if (at == end && !refill()) {
            malformed = true;
            return 0;
        }
        return window.get(at++);
    }

    /** Moves the window to what follows it. Only when all of it was read. */
    private boolean refill() throws IOException {
        if (more == null) {
            return false;
        }
        windowStart += end;
        at = 0;
        end = Math.max(0, more.read(window.array(), window.arrayOffset(), window.capacity()));
        return end > 0;
    }
}
