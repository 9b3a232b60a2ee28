package io.varve.base;

/**
 * A bookie's number, configured by its operator ({@code bookie.id}) and unique in the cluster. It is no address (I-13), and it
 * does not vouch for the disks behind it: that is what the incarnation in each directory's cookie is for.
 *
 * @param value not negative
 */
public record BookieId(int value) implements Comparable<BookieId> {

    public BookieId {
        if (value < 0) {
            throw new IllegalArgumentException("A bookie id is not negative: " + value);
        }
    }

    @Override
    public int compareTo(BookieId other) {
        return Integer.compare(value, other.value);
    }

    @Override
    public String toString() {
        return Integer.toString(value);
    }
}
