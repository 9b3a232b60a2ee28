package io.varve.serving.core.compaction;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * SipHash-2-4 with 128 bits of result (Aumasson and Bernstein, 2012). Keys are told apart by it alone, so it must be long; and it has a secret, so
 * that nobody can look for two keys of which one would take the other away. One use at a time, by one thread.
 */
final class KeyDigest {

    private static final long C0 = 0x736f6d6570736575L;
    private static final long C1 = 0x646f72616e646f6dL;
    private static final long C2 = 0x6c7967656e657261L;
    private static final long C3 = 0x7465646279746573L;
    private static final int LONG_MODE = 0xee;
    private static final int SECOND_HALF = 0xdd;

    private final long k0;
    private final long k1;

    private long v0;
    private long v1;
    private long v2;
    private long v3;
    private long first;
    private long second;

    KeyDigest(long k0, long k1) {
        this.k0 = k0;
        this.k1 = k1;
    }

    /** Digests {@code bytes} bytes of {@code in} from {@code at} on; the buffer's indices stay. */
    void of(ByteBuffer in, int at, int bytes) {
        v0 = k0 ^ C0;
        v1 = k1 ^ C1 ^ LONG_MODE;
        v2 = k0 ^ C2;
        v3 = k1 ^ C3;
        boolean swapped = in.order() == ByteOrder.BIG_ENDIAN;
        int end = at + bytes;
        int next = at;
        for (; end - next >= Long.BYTES; next += Long.BYTES) {
            long word = in.getLong(next);
            take(swapped ? Long.reverseBytes(word) : word);
        }
        long last = (long) bytes << 56;
        for (int shift = 0; next < end; shift += Byte.SIZE) {
            last |= (in.get(next++) & 0xffL) << shift;
        }
        take(last);
        v2 ^= LONG_MODE;
        rounds(4);
        first = v0 ^ v1 ^ v2 ^ v3;
        v1 ^= SECOND_HALF;
        rounds(4);
        second = v0 ^ v1 ^ v2 ^ v3;
    }

    long first() {
        return first;
    }

    long second() {
        return second;
    }

    private void take(long word) {
        v3 ^= word;
        rounds(2);
        v0 ^= word;
    }

    private void rounds(int count) {
        for (int i = 0; i < count; i++) {
            v0 += v1;
            v1 = Long.rotateLeft(v1, 13) ^ v0;
            v0 = Long.rotateLeft(v0, 32);
            v2 += v3;
            v3 = Long.rotateLeft(v3, 16) ^ v2;
            v0 += v3;
            v3 = Long.rotateLeft(v3, 21) ^ v0;
            v2 += v1;
            v1 = Long.rotateLeft(v1, 17) ^ v2;
            v2 = Long.rotateLeft(v2, 32);
        }
    }
}
