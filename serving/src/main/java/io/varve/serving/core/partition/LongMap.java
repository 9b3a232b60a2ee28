package io.varve.serving.core.partition;

import java.util.Arrays;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Values by a long key, without boxes: open addressing, linear probing, and deletion that leaves no gaps. What iterates does so in rising
 * order of keys, so that it depends on the contents alone.
 *
 * @param <V> the values
 */
final class LongMap<V> {

    private static final int CAPACITY_MIN = 16;

    private long[] keys = new long[CAPACITY_MIN];
    private Object[] values = new Object[CAPACITY_MIN];
    private int size;

    int size() {
        return size;
    }

    /** The value, or null. */
    @SuppressWarnings("unchecked")
    V get(long key) {
        int mask = keys.length - 1;
        for (int at = home(key, mask); values[at] != null; at = (at + 1) & mask) {
            if (keys[at] == key) {
                return (V) values[at];
            }
        }
        return null;
    }

    void put(long key, V value) {
        if ((size + 1) * 2 > keys.length) {
            grow();
        }
        int mask = keys.length - 1;
        int at = home(key, mask);
        while (values[at] != null && keys[at] != key) {
            at = (at + 1) & mask;
        }
        size += values[at] == null ? 1 : 0;
        keys[at] = key;
        values[at] = value;
    }

    void remove(long key) {
        int mask = keys.length - 1;
        int at = home(key, mask);
        while (values[at] != null && keys[at] != key) {
            at = (at + 1) & mask;
        }
        if (values[at] == null) {
            return;
        }
        size--;
        int gap = at;
        for (int i = (gap + 1) & mask; values[i] != null; i = (i + 1) & mask) {
            // What could not be found any more across the gap moves into it.
            if (((i - home(keys[i], mask)) & mask) >= ((i - gap) & mask)) {
                keys[gap] = keys[i];
                values[gap] = values[i];
                gap = i;
            }
        }
        values[gap] = null;
    }

    @SuppressWarnings("unchecked")
    void removeIf(Predicate<V> condition) {
        for (long key : sortedKeys()) {
            if (condition.test(get(key))) {
                remove(key);
            }
        }
    }

    void forEach(Consumer<V> action) {
        for (long key : sortedKeys()) {
            action.accept(get(key));
        }
    }

    private long[] sortedKeys() {
        long[] sorted = new long[size];
        int n = 0;
        for (int i = 0; i < keys.length; i++) {
            if (values[i] != null) {
                sorted[n++] = keys[i];
            }
        }
        Arrays.sort(sorted);
        return sorted;
    }

    @SuppressWarnings("unchecked")
    private void grow() {
        long[] oldKeys = keys;
        Object[] oldValues = values;
        keys = new long[oldKeys.length * 2];
        values = new Object[oldKeys.length * 2];
        size = 0;
        for (int i = 0; i < oldKeys.length; i++) {
            if (oldValues[i] != null) {
                put(oldKeys[i], (V) oldValues[i]);
            }
        }
    }

    private static int home(long key, int mask) {
        long mixed = key * 0x9E3779B97F4A7C15L;
        return (int) (mixed ^ mixed >>> 32) & mask;
    }
}
