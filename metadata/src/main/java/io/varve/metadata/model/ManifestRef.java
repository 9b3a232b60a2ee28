package io.varve.metadata.model;

import io.varve.base.Invariant;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * The offloaded stretch of a chain that was moved out of Raft into manifest objects in the bucket: everything from {@code startOffset} to
 * {@code endOffset}. The cluster's metadata holds this pointer and nothing else of it, however long the stretch is.
 *
 * @param key the key of the root manifest object
 * @param generation raised with each root written; a root is never overwritten
 * @param startOffset the first offset described; what the root describes below it was deleted
 * @param endOffset exclusive; the start of the first segment that Raft still describes itself
 * @param segments how many segments it describes
 * @param bytes of these segments, as their seals say
 * @param maxTimestampMs the largest record time in the stretch, {@code -1} if unknown
 * @param length the root's length in bytes
 * @param crc32c the root's checksum
 * @param marks where retention may cut the stretch, rising, the last one at {@code endOffset}: a few, close together at the old end and
 *     far apart after it, so that what has expired goes in few steps while the pointer stays small
 */
public record ManifestRef(
        String key,
        long generation,
        long startOffset,
        long endOffset,
        long segments,
        long bytes,
        long maxTimestampMs,
        long length,
        int crc32c,
        List<Mark> marks) {

    /** No pointer has more marks. */
    public static final int MARKS_MAX = 64;

    /**
     * A place where the stretch may be cut, for no object lies on both sides.
     *
     * @param offset the start of a segment, or the stretch's end
     * @param bytesBelow of the segments from the stretch's start to here
     * @param ageStampMs the time by which the youngest of them is as old as it is
     */
    public record Mark(long offset, long bytesBelow, long ageStampMs) {}

    public ManifestRef {
        Objects.requireNonNull(key, "key");
        marks = List.copyOf(marks);
        Invariant.check(startOffset >= 0 && startOffset < endOffset, "a manifest describes something", startOffset);
        Invariant.check(!marks.isEmpty() && marks.size() <= MARKS_MAX, "a pointer stays small", marks.size());
        long before = startOffset;
        for (Mark mark : marks) {
            Invariant.check(mark.offset() > before, "marks rise", before, mark.offset());
            before = mark.offset();
        }
        Invariant.check(before == endOffset, "the last mark is the end", before, endOffset);
    }

    /** Whether {@code offset} lies in the stretch. */
    public boolean covers(long offset) {
        return offset >= startOffset && offset < endOffset;
    }

    /** Whether whole objects lie below {@code offset}. */
    public boolean isPrunableBelow(long offset) {
        return marks.get(0).offset() <= offset;
    }

    /** The mark at {@code offset}, if there is one. */
    public Optional<Mark> markAt(long offset) {
        return marks.stream().filter(mark -> mark.offset() == offset).findFirst();
    }
}
