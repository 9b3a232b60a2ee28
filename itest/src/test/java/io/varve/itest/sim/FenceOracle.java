package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.InMemoryBookies;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.List;
import java.util.TreeMap;

/**
 * I-4, judged from outside: once a fence was seen on a bookie, nothing of a lower epoch appears or grows there any more, whatever the bookie remembers
 * of it.
 */
final class FenceOracle {

    private final InMemoryBookies bookies;
    private final int bookieCount;
    private final TreeMap<Integer, TreeMap<PartitionId, Integer>> fences = new TreeMap<>();
    private final TreeMap<Integer, TreeMap<SegmentId, Long>> ends = new TreeMap<>();
    private final TreeMap<Integer, TreeMap<SegmentId, Long>> copies = new TreeMap<>();

    FenceOracle(InMemoryBookies bookies, int bookieCount) {
        this.bookies = bookies;
        this.bookieCount = bookieCount;
        for (int id = 1; id <= bookieCount; id++) {
            fences.put(id, new TreeMap<>());
            ends.put(id, new TreeMap<>());
            copies.put(id, new TreeMap<>());
        }
    }

    /** Whether a fence above this epoch was seen there, at the last look or before. */
    boolean isFencedAbove(int bookie, PartitionId partition, int epoch) {
        return fences.get(bookie).getOrDefault(partition, -1) > epoch;
    }

    /** Looks again. What was fenced at the last look must not have grown since. */
    void look() {
        for (int id = 1; id <= bookieCount; id++) {
            List<SegmentId> segments = bookies.segments(id);
            for (SegmentId segment : segments) {
                look(id, segment);
            }
            for (SegmentId segment : segments) {
                PartitionId partition = bookies.partition(id, segment);
                fences.get(id).merge(partition, bookies.fence(id, partition), Math::max);
            }
        }
    }

    private void look(int id, SegmentId segment) {
        PartitionId partition = bookies.partition(id, segment);
        int epoch = bookies.epoch(id, segment);
        long end = bookies.end(id, segment);
        Long before = ends.get(id).put(segment, end);
        int fencedBefore = fences.get(id).getOrDefault(partition, -1);
        History.require(
                epoch >= fencedBefore
                        || (before != null && before == end)
                        || end == copies.get(id).getOrDefault(segment, -1L),
                "I-4 segment " + segment + " of epoch " + epoch + " on bookie " + id + " went from " + before + " to "
                        + end + " below the fence " + fencedBefore);
    }

    /** A copy of a sealed segment is being made there by repair: not by an owner, and so not against any fence. */
    void onCopying(int id, SegmentDescriptor segment) {
        copies.get(id).put(segment.id(), segment.endOffset());
    }

    /** Its disk was replaced: it is another bookie as far as promises go (I-13), and the takeovers know. */
    void onDiskLost(int id) {
        fences.get(id).clear();
        ends.get(id).clear();
        copies.get(id).clear();
    }
}
