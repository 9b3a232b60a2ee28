package io.varve.itest.kafka;

import java.util.SortedSet;
import java.util.TreeSet;

/** Which records all members of a group together were given, and which of them twice. Safe for any thread. */
final class Deliveries {

    private final SortedSet<String> once = new TreeSet<>();
    private final SortedSet<String> again = new TreeSet<>();

    /** Takes in a line of a member: {@code record PARTITION OFFSET}, or anything else, which is ignored. */
    synchronized void onLine(String line) {
        if (line.startsWith("record ") && !once.add(line)) {
            again.add(line);
        }
    }

    /** How many different records were given. */
    synchronized int count() {
        return once.size();
    }

    /** Records given more than once. */
    synchronized SortedSet<String> again() {
        return new TreeSet<>(again);
    }

    /** Whether the record at an offset was given. */
    synchronized boolean contains(int partition, long offset) {
        return once.contains("record " + partition + " " + offset);
    }
}
