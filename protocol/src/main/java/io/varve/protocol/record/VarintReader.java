package io.varve.protocol.record;

import java.nio.ByteBuffer;

/** Reads zig-zag numbers of variable length; what goes past the end breaks it instead of throwing. */
final class VarintReader {

    private static final int BITS_MAX = 63;

    private final ByteBuffer in;
    private final int end;
    private int at;
    private boolean broken;

    VarintReader(ByteBuffer in, int at, int end) {
        this.in = in;
        this.at = at;
        this.end = end;
    }

    /** The next number, of 32 or 64 bits; 0 if there is none. */
    long varint() {
        long raw = 0;
        for (int shift = 0; shift <= BITS_MAX; shift += 7) {
            if (broken || at >= end) {
                broken = true;
                return 0;
            }
            byte next = in.get(at++);
            raw |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                return raw >>> 1 ^ -(raw & 1);
            }
        }
        broken = true;
        return 0;
    }

    void skip(int bytes) {
        if (broken || bytes > end - at) {
            broken = true;
        } else {
            at += bytes;
        }
    }

    int position() {
        return at;
    }

    boolean isBroken() {
        return broken;
    }
}
