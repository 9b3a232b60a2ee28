package io.varve.tiering.core;

import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** CRC32C of stretches of buffers, without moving them. */
final class Crc {

    private Crc() {}

    /** Of {@code length} bytes from the absolute index {@code at} on. */
    static int of(ByteBuffer bytes, int at, int length) {
        CRC32C crc = new CRC32C();
        crc.update(bytes.duplicate().limit(at + length).position(at));
        return (int) crc.getValue();
    }
}
