package io.varve.bookie.journal;

import io.varve.bookie.core.JournalFormat;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Memory in which groups are put together, and from which the newest of them are read again: a window on one stretch of one journal file. The journal's thread
 * fills it; readers and the writer hold it while they need it.
 */
final class Slab {

    private final ByteBuffer memory;
    private final AtomicInteger users = new AtomicInteger();
    private long file = -1;
    private long base;
    private int used;

    Slab(int bytes) {
        memory = JournalFormat.blocks(bytes);
    }

    /** Starts over, for the stretch of a file that begins at {@code position}. */
    void reset(long fileNumber, long position) {
        file = fileNumber;
        base = position;
        used = 0;
    }

    /** Whether what starts at {@code position} of that file belongs behind what is in here. */
    boolean continues(long fileNumber, long position) {
        return file == fileNumber && base + used == position;
    }

    boolean contains(long fileNumber, long position, int bytes) {
        return file == fileNumber && position >= base && position + bytes <= base + used;
    }

    int room() {
        return memory.capacity() - used;
    }

    int used() {
        return used;
    }

    void use(int upTo) {
        used = upTo;
    }

    int capacity() {
        return memory.capacity();
    }

    /** For absolute access; its position and limit mean nothing and may not be changed. */
    ByteBuffer memory() {
        return memory;
    }

    /** Where that position of the file is in here. */
    int indexOf(long position) {
        return (int) (position - base);
    }

    void hold() {
        users.incrementAndGet();
    }

    void release() {
        users.decrementAndGet();
    }

    boolean isHeld() {
        return users.get() != 0;
    }
}
