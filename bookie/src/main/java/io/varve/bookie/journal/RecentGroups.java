package io.varve.bookie.journal;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;

/**
 * The newest stretches of the journal in memory, bounded. The lock is taken once per slab filled and once per read, never per append.
 */
public final class RecentGroups {

    /** A group near the end of a slab may be as small as this before a new slab is begun. */
    static final int ROOM_BYTES_MIN = 256 * 1024;

    private final int slabBytes;
    private final int slabsMax;
    private final ArrayDeque<Slab> slabs = new ArrayDeque<>();

    RecentGroups(int slabBytes, long bytesMax) {
        this.slabBytes = slabBytes;
        this.slabsMax = (int) Math.max(3, bytesMax / slabBytes);
    }

    /** The slab for a group that starts there and should take at least {@code bytes}. */
    synchronized Slab forGroup(long file, long position, int bytes) {
        Slab newest = slabs.peekLast();
        if (newest != null
                && newest.continues(file, position)
                && newest.room() >= Math.max(bytes, Math.min(ROOM_BYTES_MIN, slabBytes / 2))) {
            return newest;
        }
        Slab slab = null;
        while (slabs.size() >= slabsMax) {
            Slab oldest = slabs.pollFirst();
            // Somebody still reads in it: left to them, and to the garbage collector.
            slab = oldest.isHeld() || oldest.capacity() < bytes || oldest.capacity() > slabBytes ? null : oldest;
        }
        if (slab == null) {
            slab = new Slab(Math.max(slabBytes, bytes));
        }
        slab.reset(file, position);
        slabs.addLast(slab);
        return slab;
    }

    /**
     * Copies a stretch that is durable, if it is here.
     *
     * @param to filled from its position, which moves, if the answer is {@code true}
     */
    public boolean copy(long file, long position, int bytes, ByteBuffer to) {
        Slab found = find(file, position, bytes);
        if (found == null) {
            return false;
        }
        try {
            int at = found.indexOf(position);
            to.put(found.memory().duplicate().limit(at + bytes).position(at));
            return true;
        } finally {
            found.release();
        }
    }

    private synchronized Slab find(long file, long position, int bytes) {
        for (Slab slab : slabs) {
            if (slab.contains(file, position, bytes)) {
                slab.hold();
                return slab;
            }
        }
        return null;
    }
}
