package io.varve.base;

/**
 * A segment's identity, given out by the metadata service in rising order and never reused.
 *
 * @param value positive
 */
public record SegmentId(long value) implements Comparable<SegmentId> {

    public SegmentId {
        if (value <= 0) {
            throw new IllegalArgumentException("A segment id is positive: " + value);
        }
    }

    @Override
    public int compareTo(SegmentId other) {
        return Long.compare(value, other.value);
    }

    @Override
    public String toString() {
        return Long.toString(value);
    }
}
