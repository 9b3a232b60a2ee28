package io.varve.tiering.core;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A queue for each of many, served one from each in turn: however much one of them asks for, nobody else waits for more of it than one at a time. Not
 * safe for several threads.
 *
 * @param <W> who asks
 * @param <T> what for
 */
public final class RoundRobin<W, T> {

    /** The first is next to be served, and goes to the end with what it has left. */
    private final LinkedHashMap<W, ArrayDeque<T>> queues = new LinkedHashMap<>();

    private int size;

    /** Adds to the end of somebody's queue. */
    public void add(W who, T what) {
        queues.computeIfAbsent(who, none -> new ArrayDeque<>()).add(what);
        size++;
    }

    /** What {@link #poll} would take; null if there is nothing. */
    public T peek() {
        return size == 0 ? null : queues.values().iterator().next().peek();
    }

    /** Takes what is next; null if there is nothing. */
    public T poll() {
        if (size == 0) {
            return null;
        }
        Map.Entry<W, ArrayDeque<T>> first = queues.entrySet().iterator().next();
        W who = first.getKey();
        ArrayDeque<T> queue = queues.remove(who);
        T next = queue.poll();
        if (!queue.isEmpty()) {
            queues.put(who, queue);
        }
        size--;
        return next;
    }

    /** How much is waiting. */
    public int size() {
        return size;
    }

    /** Whether nothing is. */
    public boolean isEmpty() {
        return size == 0;
    }

    /** Takes everything. */
    public List<T> drain() {
        List<T> all = new ArrayList<>(size);
        queues.values().forEach(all::addAll);
        queues.clear();
        size = 0;
        return all;
    }
}
