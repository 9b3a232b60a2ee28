package io.varve.bookie.disk;

import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;

/** An open file. Safe for any thread. */
public interface DiskFile extends Closeable {

    /**
     * Writes all that remains of {@code from} at {@code position}, and moves its position to its limit. Durable after {@link #force}.
     *
     * @throws DiskFullException if there is no room for all of it; part of it may have been written
     */
    void write(ByteBuffer from, long position) throws IOException;

    /**
     * Reads until {@code to} is full or the file ends.
     *
     * @return bytes read, possibly 0, fewer than {@code to} had room for only at the file's end
     */
    int read(ByteBuffer to, long position) throws IOException;

    /** Makes everything written before durable. When this fails, nothing is known of any of it, and trying again proves nothing (I-12). */
    void force() throws IOException;

    /** The file's length in bytes. */
    long size() throws IOException;

    /** Cuts the file off. */
    void truncate(long bytes) throws IOException;
}
