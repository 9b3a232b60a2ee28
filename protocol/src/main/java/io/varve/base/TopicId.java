package io.varve.base;

/**
 * A topic's identity: 128 random bits, fixed when the topic is created and never reused, so that a topic deleted and created again
 * under the same name is another topic. The same bits as the {@code Uuid} of the Kafka protocol.
 *
 * @param high the most significant 64 bits
 * @param low the least significant 64 bits
 */
public record TopicId(long high, long low) implements Comparable<TopicId> {

    /** No topic. */
    public static final TopicId NONE = new TopicId(0, 0);

    @Override
    public int compareTo(TopicId other) {
        int byHigh = Long.compareUnsigned(high, other.high);
        return byHigh != 0 ? byHigh : Long.compareUnsigned(low, other.low);
    }

    /** The 32 hexadecimal digits, as used in object keys and on disk. */
    @Override
    public String toString() {
        StringBuilder digits = new StringBuilder(32);
        appendHex(digits, high);
        appendHex(digits, low);
        return digits.toString();
    }

    /**
     * Reads what {@link #toString()} writes.
     *
     * @throws IllegalArgumentException if {@code text} is not 32 hexadecimal digits
     */
    public static TopicId parse(String text) {
        if (text.length() != 32) {
            throw new IllegalArgumentException("A topic id has 32 hexadecimal digits: " + text);
        }
        return new TopicId(Long.parseUnsignedLong(text, 0, 16, 16), Long.parseUnsignedLong(text, 16, 32, 16));
    }

    private static void appendHex(StringBuilder to, long bits) {
        for (int shift = 60; shift >= 0; shift -= 4) {
            to.append(Character.forDigit((int) (bits >>> shift) & 0xf, 16));
        }
    }
}
