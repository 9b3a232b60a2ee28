package io.varve.tiering.core;

import java.nio.ByteBuffer;

/** Checks of an object's opaque stretches. */
public final class Sections {

    private Sections() {}

    /**
     * @param bytes of the section, from the position to the limit; neither moves
     * @throws ObjectFormatException if they don't have the section's length and checksum
     */
    public static void check(ByteBuffer bytes, ObjectFooter.Section section) throws ObjectFormatException {
        if (bytes.remaining() != section.bytes() || crc(bytes) != section.crc()) {
            throw ObjectFormatException.corrupt("the section at " + section.position() + " doesn't have its checksum");
        }
    }

    /** CRC32C from the position to the limit; neither moves. */
    public static int crc(ByteBuffer bytes) {
        return Crc.of(bytes, bytes.position(), bytes.remaining());
    }
}
