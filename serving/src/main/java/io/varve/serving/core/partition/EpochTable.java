package io.varve.serving.core.partition;

import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Where each epoch's records begin, as far as it has any. Kept apart from the chain, because a carried entry stays an entry of the epoch under
 * which its offset was given out: a consumer that has read it must not be told that its epoch ended before it.
 */
public final class EpochTable {

    private static final int ROW_BYTES = Integer.BYTES + Long.BYTES;

    private int[] epochs = new int[4];
    private long[] starts = new long[4];
    private int count;

    /** Records from {@code startOffset} on are of this epoch. Nothing happens if it is the newest one already. */
    public void assign(int epoch, long startOffset) {
        if (count > 0 && epochs[count - 1] >= epoch) {
            return;
        }
        while (count > 0 && starts[count - 1] >= startOffset) {
            count--; // An epoch without records leaves no trace.
        }
        if (count == epochs.length) {
            epochs = Arrays.copyOf(epochs, count * 2);
            starts = Arrays.copyOf(starts, count * 2);
        }
        epochs[count] = epoch;
        starts[count++] = startOffset;
    }

    /** Forgets what lies wholly below the log's start. */
    public void onLogStart(long logStartOffset) {
        int drop = 0;
        while (drop + 1 < count && starts[drop + 1] <= logStartOffset) {
            drop++;
        }
        if (drop > 0) {
            System.arraycopy(epochs, drop, epochs, 0, count - drop);
            System.arraycopy(starts, drop, starts, 0, count - drop);
            count -= drop;
        }
        if (count > 0 && starts[0] < logStartOffset) {
            starts[0] = logStartOffset;
        }
    }

    /** The newest epoch that is not above {@code epoch} and has records; {@code epoch} itself if all known ones are newer; -1 if none is. */
    public int epochAt(int epoch) {
        int row = floor(epoch);
        return count == 0 ? -1 : row < 0 ? epoch : epochs[row];
    }

    /** Where the records of {@link #epochAt} end, {@code endOffset} being the end of the log. */
    public long endOf(int epoch, long endOffset) {
        int row = floor(epoch);
        return count == 0 ? -1 : row + 1 < count ? starts[row + 1] : endOffset;
    }

    /** The epoch of the record at {@code offset}, -1 if it isn't known. */
    public int epochOf(long offset) {
        for (int row = count - 1; row >= 0; row--) {
            if (starts[row] <= offset) {
                return epochs[row];
            }
        }
        return -1;
    }

    private int floor(int epoch) {
        int row = count - 1;
        while (row >= 0 && epochs[row] > epoch) {
            row--;
        }
        return row;
    }

    int encodedBytes() {
        return Integer.BYTES + count * ROW_BYTES;
    }

    void encode(ByteBuffer to) {
        to.putInt(count);
        for (int row = 0; row < count; row++) {
            to.putInt(epochs[row]).putLong(starts[row]);
        }
    }

    static EpochTable decode(ByteBuffer from) {
        EpochTable table = new EpochTable();
        int count = LogState.count(from, ROW_BYTES);
        for (int row = 0; row < count; row++) {
            table.assign(from.getInt(), from.getLong());
        }
        return table;
    }
}
