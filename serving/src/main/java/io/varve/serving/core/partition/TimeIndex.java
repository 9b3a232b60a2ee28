package io.varve.serving.core.partition;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Where in a segment which times are to be found: the largest record time of each stretch of some bytes. The stretches grow with the
 * segment, so that their number stays bounded.
 */
public final class TimeIndex {

    private static final int ROWS_MAX = 256;
    private static final int STRETCH_BYTES_MIN = 256 * 1024;
    private static final int ROW_BYTES = 2 * Long.BYTES;

    private final long[] offsets = new long[ROWS_MAX];
    private final long[] maxTimestamps = new long[ROWS_MAX];
    private int count;
    private long stretchBytes = STRETCH_BYTES_MIN;
    private long filledBytes;

    void add(long firstOffset, int sizeBytes, long maxTimestampMs) {
        if (count == 0 || filledBytes >= stretchBytes) {
            if (count == ROWS_MAX) {
                halve();
            }
            offsets[count] = firstOffset;
            maxTimestamps[count++] = maxTimestampMs;
            filledBytes = 0;
        } else {
            maxTimestamps[count - 1] = Math.max(maxTimestamps[count - 1], maxTimestampMs);
        }
        filledBytes += sizeBytes;
    }

    private void halve() {
        for (int row = 0; row < ROWS_MAX; row += 2) {
            offsets[row / 2] = offsets[row];
            maxTimestamps[row / 2] = Math.max(maxTimestamps[row], maxTimestamps[row + 1]);
        }
        count = ROWS_MAX / 2;
        stretchBytes *= 2;
    }

    /**
     * Where the first stretch at or after {@code fromOffset} begins that holds a record of that time or later; -1 if none of the index does.
     */
    public long firstAtLeast(long timestampMs, long fromOffset) {
        for (int row = 0; row < count; row++) {
            boolean endsBefore = row + 1 < count && offsets[row + 1] <= fromOffset;
            if (!endsBefore && maxTimestamps[row] >= timestampMs) {
                return Math.max(offsets[row], fromOffset);
            }
        }
        return -1;
    }

    /** Where the last stretch begins that begins below an offset; -1 if none does. */
    public long lastStretchBelow(long offset) {
        long last = -1;
        for (int row = 0; row < count && offsets[row] < offset; row++) {
            last = offsets[row];
        }
        return last;
    }

    /** The largest time of the stretches that begin below an offset, -1 if none does. */
    public long maxTimestampMsBelow(long offset) {
        long max = -1;
        for (int row = 0; row < count && offsets[row] < offset; row++) {
            max = Math.max(max, maxTimestamps[row]);
        }
        return max;
    }

    int encodedBytes() {
        return Integer.BYTES + 2 * Long.BYTES + count * ROW_BYTES;
    }

    void encode(ByteBuffer to) {
        to.putLong(stretchBytes).putLong(filledBytes).putInt(count);
        for (int row = 0; row < count; row++) {
            to.putLong(offsets[row]).putLong(maxTimestamps[row]);
        }
    }

    static TimeIndex decode(ByteBuffer from) {
        TimeIndex index = new TimeIndex();
        index.stretchBytes = Math.max(STRETCH_BYTES_MIN, from.getLong());
        index.filledBytes = from.getLong();
        int count = LogState.count(from, ROW_BYTES);
        if (count > ROWS_MAX) {
            throw new CheckpointFormatException("a time index of " + count + " rows");
        }
        for (int row = 0; row < count; row++) {
            index.offsets[row] = from.getLong();
            index.maxTimestamps[row] = from.getLong();
        }
        index.count = count;
        return index;
    }

    @Override
    public String toString() {
        return "TimeIndex" + Arrays.toString(Arrays.copyOf(maxTimestamps, count));
    }
}
