package io.varve.bookie.core;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Which of some journal files hold anything that is needed, as one pass over the replicas finds it. Used by one thread. */
public final class NeededFiles {

    private final long[] numbers;
    private final boolean[] needed;
    private int left;

    /** @param files in order */
    public NeededFiles(List<Long> files) {
        numbers = files.stream().mapToLong(Long::longValue).toArray();
        needed = new boolean[numbers.length];
        left = numbers.length;
    }

    /** Something in that file is needed; files that were not asked about are ignored. */
    public void add(long file) {
        int at = Arrays.binarySearch(numbers, file);
        if (at >= 0 && !needed[at]) {
            needed[at] = true;
            left--;
        }
    }

    /** Whether there is nothing left to be found out. */
    public boolean areAll() {
        return left == 0;
    }

    /** The files that nobody needs, oldest first. */
    public List<Long> unneeded() {
        return files(false);
    }

    /** The files that somebody needs, oldest first. */
    public List<Long> needed() {
        return files(true);
    }

    private List<Long> files(boolean which) {
        List<Long> found = new ArrayList<>();
        for (int at = 0; at < numbers.length; at++) {
            if (needed[at] == which) {
                found.add(numbers[at]);
            }
        }
        return found;
    }
}
