package io.varve.bookie.core;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Checksums over stretches of buffers, many of one buffer, without making an object for each. Used by one thread. */
public final class Checksummer {

    private final CRC32C crc = new CRC32C();
    private ByteBuffer buffer;
    private ByteBuffer view;

    /** CRC32C of part of a buffer, whose position and limit are left alone. */
    public int checksum(ByteBuffer of, int at, int bytes) {
        if (of != buffer) {
            buffer = of;
            view = of.duplicate();
        }
        view.limit(at + bytes).position(at);
        crc.reset();
        crc.update(view);
        return (int) crc.getValue();
    }
}
