package io.varve.serving.core.partition;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * The aborted transactions whose markers lie in a stretch of the log, in order of the markers. Each segment's last checkpoint holds those of
 * its own stretch, so that the index of a log of any age costs memory only where it is read.
 */
public final class AbortedTxns {

    private static final int ROW_BYTES = 4 * Long.BYTES;

    private final List<Aborted> rows = new ArrayList<>();

    /**
     * @param producerId whose
     * @param firstOffset of its first record in this partition
     * @param markerOffset of the marker that ended it
     * @param stableOffset the last stable offset right after it: no transaction that ends later has records below
     */
    public record Aborted(long producerId, long firstOffset, long markerOffset, long stableOffset) {}

    void add(Aborted aborted) {
        if (rows.isEmpty() || rows.get(rows.size() - 1).markerOffset() < aborted.markerOffset()) {
            rows.add(aborted);
        }
    }

    /** Forgets those whose markers lie below. */
    void dropBelow(long markerOffset) {
        rows.removeIf(a -> a.markerOffset() < markerOffset);
    }

    /**
     * Adds to {@code found} what a reader of {@code [fromOffset, toOffset)} must skip.
     *
     * @param found in order of the markers; grows
     * @return whether that is all, however many markers follow
     */
    public boolean collect(long fromOffset, long toOffset, List<Aborted> found) {
        for (Aborted a : rows) {
            if (a.markerOffset() >= fromOffset && a.firstOffset() < toOffset) {
                insert(a, found);
            }
            if (a.stableOffset() >= toOffset) {
                return true;
            }
        }
        return false;
    }

    /** Puts it where it belongs, which mostly is the end, unless it is there: neighbouring segments' checkpoints name the same. */
    private static void insert(Aborted a, List<Aborted> found) {
        int from = 0;
        int to = found.size();
        while (from < to) {
            int middle = (from + to) >>> 1;
            if (found.get(middle).markerOffset() < a.markerOffset()) {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        if (from == found.size() || found.get(from).markerOffset() != a.markerOffset()) {
            found.add(from, a);
        }
    }

    /** How many. */
    public int size() {
        return rows.size();
    }

    int encodedBytes() {
        return Integer.BYTES + rows.size() * ROW_BYTES;
    }

    void encode(ByteBuffer to) {
        to.putInt(rows.size());
        for (Aborted a : rows) {
            to.putLong(a.producerId())
                    .putLong(a.firstOffset())
                    .putLong(a.markerOffset())
                    .putLong(a.stableOffset());
        }
    }

    static AbortedTxns decode(ByteBuffer from) {
        AbortedTxns aborted = new AbortedTxns();
        int count = LogState.count(from, ROW_BYTES);
        for (int row = 0; row < count; row++) {
            aborted.add(new Aborted(from.getLong(), from.getLong(), from.getLong(), from.getLong()));
        }
        return aborted;
    }
}
