package io.varve.serving.core.partition;

import java.util.Arrays;

/** A set of numbers other than 0 in one array: a search has millions. */
final class LongSet {

    private long[] slots = new long[1 << 12];
    private int size;

    /** @return whether it was not there yet */
    boolean add(long value) {
        if (2 * size >= slots.length) {
            grow();
        }
        long number = value == 0 ? 1 : value;
        int at = slotOf(slots, number);
        if (slots[at] == number) {
            return false;
        }
        slots[at] = number;
        size++;
        return true;
    }

    int size() {
        return size;
    }

    private void grow() {
        long[] larger = new long[slots.length * 2];
        Arrays.stream(slots).filter(number -> number != 0).forEach(number -> larger[slotOf(larger, number)] = number);
        slots = larger;
    }

    private static int slotOf(long[] slots, long number) {
        int at = (int) (number >>> 20) & (slots.length - 1);
        while (slots[at] != 0 && slots[at] != number) {
            at = (at + 1) & (slots.length - 1);
        }
        return at;
    }
}
