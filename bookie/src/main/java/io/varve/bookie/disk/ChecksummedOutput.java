package io.varve.bookie.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.zip.CRC32C;

/** Writes a small file from start to end, with the CRC32C of everything as its last four bytes. Big-endian. Used by one thread. */
public final class ChecksummedOutput {

    private static final int BUFFER_BYTES = 64 * 1024;

    private final DiskFile file;
    private final ByteBuffer buffer = ByteBuffer.allocate(BUFFER_BYTES);
    private final CRC32C crc = new CRC32C();
    private long position;

    /** Writes from the file's start. */
    public ChecksummedOutput(DiskFile file) {
        this.file = file;
    }

    /** Adds a byte. */
    public ChecksummedOutput putByte(int value) throws IOException {
        room(1).put((byte) value);
        return this;
    }

    /** Adds four bytes. */
    public ChecksummedOutput putInt(int value) throws IOException {
        room(4).putInt(value);
        return this;
    }

    /** Adds eight bytes. */
    public ChecksummedOutput putLong(long value) throws IOException {
        room(8).putLong(value);
        return this;
    }

    /** Adds all that remains of {@code bytes}. */
    public ChecksummedOutput put(ByteBuffer bytes) throws IOException {
        while (bytes.hasRemaining()) {
            ByteBuffer room = room(1);
            int part = Math.min(room.remaining(), bytes.remaining());
            room.put(bytes.duplicate().limit(bytes.position() + part));
            bytes.position(bytes.position() + part);
        }
        return this;
    }

    /** How many bytes were added so far. */
    public long bytes() {
        return position + buffer.position();
    }

    /** Adds the checksum and makes it all durable. */
    public void finish() throws IOException {
        finishUnforced();
        file.force();
    }

    /** Adds the checksum. A power cut may leave any part of it all. */
    public void finishUnforced() throws IOException {
        drain();
        buffer.putInt((int) crc.getValue());
        buffer.flip();
        file.write(buffer, position);
    }

    private ByteBuffer room(int bytes) throws IOException {
        if (buffer.remaining() < bytes) {
            drain();
        }
        return buffer;
    }

    private void drain() throws IOException {
        buffer.flip();
        crc.update(buffer.duplicate());
        int bytes = buffer.remaining();
        file.write(buffer, position);
        position += bytes;
        buffer.clear();
    }

    /** Reads such a file whole, and checks it: {@code null} if it isn't intact. */
    public static ByteBuffer readWhole(DiskFile file) throws IOException {
        long size = file.size();
        if (size < 4 || size > Integer.MAX_VALUE) {
            return null;
        }
        ByteBuffer whole = ByteBuffer.allocate((int) size);
        if (file.read(whole, 0) != size) {
            return null;
        }
        whole.flip();
        CRC32C crc = new CRC32C();
        crc.update(whole.duplicate().limit((int) size - 4));
        return whole.getInt((int) size - 4) == (int) crc.getValue() ? whole.limit((int) size - 4) : null;
    }
}
