package io.varve.bookie.store;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * A sealed segment on its way onto this bookie. Used by one thread at a time; every call may block on the disk. An import that is neither completed nor
 * aborted is gone on with by the next {@link SegmentStore#importSegment} of that segment, also after a restart.
 */
public interface SegmentImport extends AutoCloseable {

    /** Where the next entries must start. */
    long nextOffset();

    /**
     * Adds whole entries, verified here.
     *
     * @param entries as {@link io.varve.protocol.storage.EntryFormat} lays them out, starting at {@link #nextOffset}; what lies at or above the
     *     segment's end is left out. Read up to the limit, and free to be used again afterwards
     * @throws IOException if the disk fails, or an entry is not intact or not the next one; nothing of {@code entries} counts then
     */
    void write(ByteBuffer entries) throws IOException;

    /**
     * Takes over a checkpoint of the segment's owner, for takeovers and offload to find it here as they would at the source. The newest of an import counts.
     *
     * @param offset the state's, not above the segment's end
     * @param state opaque; read up to the limit, and free to be used again afterwards
     * @throws IOException if the offset is not one of the segment's
     */
    void checkpoint(long offset, ByteBuffer state) throws IOException;

    /**
     * Makes the replica durable, and visible as sealed.
     *
     * @throws IOException if the disk fails or entries are missing
     */
    void complete() throws IOException;

    /** Throws away what was copied. */
    void abort() throws IOException;

    /** Lets go of the files; does not throw away anything. */
    @Override
    void close();
}
