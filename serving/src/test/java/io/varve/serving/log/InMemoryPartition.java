package io.varve.serving.log;

import io.varve.serving.log.PartitionLog.AbortedTxn;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;

/** What is kept of one partition between tenures. Guarded by itself. */
final class InMemoryPartition {

    /** Batches by base offset, as they were appended, offsets and epoch filled in. */
    final NavigableMap<Long, byte[]> batches = new TreeMap<>();

    final NavigableMap<Integer, Long> epochStarts = new TreeMap<>();
    final List<Aborted> aborted = new ArrayList<>();

    long logStart;
    long highWatermark;
    long end;
    private int epoch = -1;

    record Aborted(long producerId, long firstOffset, long markerOffset) {
        AbortedTxn asResult() {
            return new AbortedTxn(producerId, firstOffset);
        }
    }

    synchronized int nextEpoch() {
        return ++epoch;
    }

    /** Forgets what was never acknowledged. */
    void truncateToHighWatermark() {
        batches.tailMap(highWatermark, true).clear();
        aborted.removeIf(a -> a.markerOffset() >= highWatermark);
        end = highWatermark;
    }

    static long lastOffset(Map.Entry<Long, byte[]> batch) {
        return batch.getKey() + ByteBuffer.wrap(batch.getValue()).getInt(23);
    }
}
