package io.varve.serving.core.compaction;

import io.varve.base.Invariant;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * The newest offset of each key: open addressing over digests of the keys, 24 bytes each, in memory that is taken once. It is full at nine
 * tenths, where looking for a key still costs a few steps. Used by one pass at a time, by one thread; may serve many passes one after the other.
 */
public final class NewestOffsets {

    /** What {@link #get} says of a key that wasn't seen. */
    public static final long NONE = -1;

    /** Of room for a dozen keys. */
    public static final long BYTES_MIN = 24L << 4;

    /** The most that arrays can hold. */
    public static final long BYTES_MAX = 24L << 28;

    private static final int SLOT_BYTES = 3 * Long.BYTES;

    private final int slots;
    private final int sizeMax;
    private final KeyDigest digest;
    private final long[] firsts;
    private final long[] seconds;
    /** Offset + 1; 0 where nothing is. */
    private final long[] offsets;

    private int size;

    /**
     * @param bytes of memory, from {@link #BYTES_MIN} to {@link #BYTES_MAX}
     * @param secret0 chance
     * @param secret1 chance
     */
    public NewestOffsets(long bytes, long secret0, long secret1) {
        Invariant.check(bytes >= BYTES_MIN && bytes <= BYTES_MAX, "the bytes are within their bounds", bytes);
        slots = (int) (bytes / SLOT_BYTES);
        sizeMax = (int) (slots * 9L / 10);
        digest = new KeyDigest(secret0, secret1);
        firsts = new long[slots];
        seconds = new long[slots];
        offsets = new long[slots];
    }

    /** Forgets all. */
    public void clear() {
        Arrays.fill(offsets, 0);
        size = 0;
    }

    /** How many keys. */
    public int size() {
        return size;
    }

    /** How many keys it can hold. */
    public int sizeMax() {
        return sizeMax;
    }

    /**
     * The key of {@code bytes} bytes at {@code at} was written at {@code offset}.
     *
     * @return false if it is new and there is no room
     */
    boolean put(ByteBuffer in, int at, int bytes, long offset) {
        int slot = find(in, at, bytes);
        if (offsets[slot] == 0) {
            if (size == sizeMax) {
                return false;
            }
            size++;
            firsts[slot] = digest.first();
            seconds[slot] = digest.second();
        }
        offsets[slot] = Math.max(offsets[slot], offset + 1);
        return true;
    }

    /** The newest offset of that key, or {@link #NONE}. */
    long get(ByteBuffer in, int at, int bytes) {
        return offsets[find(in, at, bytes)] - 1;
    }

    private int find(ByteBuffer in, int at, int bytes) {
        digest.of(in, at, bytes);
        int slot = (int) Math.multiplyHigh(digest.first() >>> 1, (long) slots << 1);
        while (offsets[slot] != 0 && (firsts[slot] != digest.first() || seconds[slot] != digest.second())) {
            slot = slot + 1 == slots ? 0 : slot + 1;
        }
        return slot;
    }
}
