package io.varve.serving.core.compaction;

import io.varve.metadata.model.SegmentChain;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Whether a partition is to be compacted, and what of it. A pass goes through every segment from the log's start to {@link #endOffset}: nothing older than
 * what it looks at may stay behind it, or what a tombstone took away would come back.
 *
 * @param segments in order, from the log's first on
 * @param dirtyOffset where the part begins that no pass has observed
 * @param groups runs of neighbouring segments, each to be rewritten as one
 */
public record CompactionPlan(List<Segment> segments, long dirtyOffset, List<Group> groups) {

    /** Copies the lists. */
    public CompactionPlan {
        segments = List.copyOf(segments);
        groups = List.copyOf(groups);
    }

    /**
     * A sealed segment.
     *
     * @param endOffset exclusive
     * @param bytes of its entries
     * @param dirtyFrom from where on no pass has looked at it: its base if none has at all, its end if there is nothing left to look at
     * @param oldestTimestampMs a time at or after which the first of its records was written that no pass has looked at, as early as is known, or -1
     * @param ageStampMs the time of its newest record, as far as that can be believed
     */
    public record Segment(
            long baseOffset, long endOffset, long bytes, long dirtyFrom, long oldestTimestampMs, long ageStampMs) {

        /** Whether passes have looked at all of it. */
        public boolean isClean() {
            return dirtyFrom == endOffset;
        }

        /** The share of its bytes that its dirty offsets have. */
        private long dirtyBytes() {
            return (long) (bytes * ((double) (endOffset - dirtyFrom) / Math.max(1, endOffset - baseOffset)));
        }
    }

    /**
     * Segments that become one.
     *
     * @param fromIndex of the first in the plan's {@link #segments}
     * @param toIndex exclusive
     */
    public record Group(int fromIndex, int toIndex) {}

    /**
     * The topic's wishes.
     *
     * @param dirtyRatioMin {@code min.cleanable.dirty.ratio}: how much of the bytes must be dirty, 0 to 1
     * @param minLagMs {@code min.compaction.lag.ms}: segments with younger records are left alone
     * @param maxLagMs {@code max.compaction.lag.ms}: dirty segments with older records wait for no ratio
     * @param segmentBytes {@code segment.bytes}: what is written together stays below
     * @param nowMs wall time
     */
    public record Wishes(double dirtyRatioMin, long minLagMs, long maxLagMs, long segmentBytes, long nowMs) {

        /** The same at another time. */
        public Wishes at(long otherMs) {
            return new Wishes(dirtyRatioMin, minLagMs, maxLagMs, segmentBytes, otherMs);
        }
    }

    /**
     * What to do with a partition.
     *
     * @param sealed all its sealed segments, in order, from the log's first on
     * @param stableOffset the last stable offset
     * @return empty if nothing is to be done for now
     */
    public static Optional<CompactionPlan> of(List<Segment> sealed, long stableOffset, Wishes wishes) {
        List<Segment> eligible = new ArrayList<>();
        for (Segment segment : sealed) {
            if (segment.endOffset() > stableOffset || isTooYoung(segment, wishes)) {
                break;
            }
            eligible.add(segment);
        }
        int firstDirty = 0;
        while (firstDirty < eligible.size() && eligible.get(firstDirty).isClean()) {
            firstDirty++;
        }
        if (firstDirty == eligible.size() || !isWorthIt(eligible, firstDirty, wishes)) {
            return Optional.empty();
        }
        long dirtyOffset = eligible.get(firstDirty).dirtyFrom();
        return Optional.of(new CompactionPlan(eligible, dirtyOffset, groups(eligible, wishes)));
    }

    /** The dirty bytes among all: of segments that may be compacted now and of those that may not yet. */
    public static long dirtyBytes(List<Segment> sealed) {
        return sealed.stream().mapToLong(Segment::dirtyBytes).sum();
    }

    /** Where the stretch begins: the start of the log's first segment. */
    public long startOffset() {
        return segments.get(0).baseOffset();
    }

    /** Where it ends, exclusive. */
    public long endOffset() {
        return segments.get(segments.size() - 1).endOffset();
    }

    /**
     * The groups of a pass that observed what lies below {@code observedEnd}: segments that it didn't observe to the end are left for the next one. But if there was room for
     * the keys of a part of the first dirty segment only, that part is progress too, and the last group ends with this segment. The groups are to be rewritten in their order: one
     * that fails ends the pass.
     *
     * @return none if not a single batch was observed
     */
    public List<Group> groupsWithin(long observedEnd) {
        int covered = 0;
        while (covered < segments.size() && segments.get(covered).endOffset() <= observedEnd) {
            covered++;
        }
        if (observedEnd <= dirtyOffset) {
            return List.of();
        }
        if (covered == 0 || segments.get(covered - 1).endOffset() <= dirtyOffset) {
            covered++;
        }
        List<Group> within = new ArrayList<>();
        for (Group group : groups) {
            if (group.fromIndex() < covered) {
                within.add(new Group(group.fromIndex(), Math.min(group.toIndex(), covered)));
            }
        }
        return within;
    }

    private static boolean isTooYoung(Segment segment, Wishes wishes) {
        return wishes.minLagMs() > 0 && segment.ageStampMs() > wishes.nowMs() - wishes.minLagMs();
    }

    private static boolean isWorthIt(List<Segment> eligible, int firstDirty, Wishes wishes) {
        long dirty = 0;
        long all = 0;
        boolean waitedTooLong = false;
        for (int i = 0; i < eligible.size(); i++) {
            Segment segment = eligible.get(i);
            all += segment.bytes();
            if (i >= firstDirty) {
                dirty += segment.dirtyBytes();
                waitedTooLong |= segment.oldestTimestampMs() >= 0
                        && segment.oldestTimestampMs() < wishes.nowMs() - wishes.maxLagMs();
            }
        }
        return waitedTooLong || (double) dirty / Math.max(1, all) > wishes.dirtyRatioMin();
    }

    /** Whether a group is a segment that passes have looked at. It needn't be written anew if nothing goes from it. */
    public boolean isSettled(Group group) {
        return group.toIndex() - group.fromIndex() == 1
                && segments.get(group.fromIndex()).isClean();
    }

    private static List<Group> groups(List<Segment> segments, Wishes wishes) {
        List<Group> groups = new ArrayList<>();
        int from = 0;
        long bytes = 0;
        for (int i = 0; i < segments.size(); i++) {
            long more = segments.get(i).bytes();
            if (i > from && (bytes + more > wishes.segmentBytes() || i - from == SegmentChain.STRETCH_MAX)) {
                groups.add(new Group(from, i));
                from = i;
                bytes = 0;
            }
            bytes += more;
        }
        groups.add(new Group(from, segments.size()));
        return groups;
    }
}
