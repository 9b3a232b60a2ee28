package io.varve.tiering.api;

import io.varve.metadata.model.SegmentDescriptor;
import java.io.Closeable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A sealed segment as its holder can read it from start to end. Implemented by the bookie, so that tiering never sees one. Used by one
 * thread at a time; reading may block on the disk.
 */
public interface SealedSegmentSource extends Closeable {

    /** What is read. */
    SegmentDescriptor segment();

    /**
     * The next whole entries, laid out by {@link io.varve.protocol.storage.EntryFormat}, at least one, and no more than fit into
     * {@code maxBytes} otherwise. The buffer is valid until the next call.
     *
     * @return nothing when the segment's end was reached
     * @throws IOException if the disk fails or an entry is not intact: the upload must be given up
     */
    Optional<ByteBuffer> next(int maxBytes) throws IOException;

    /** The owner's last checkpoint of the segment, opaque, to be kept in the object. */
    Optional<Checkpoint> lastCheckpoint() throws IOException;

    /**
     * @param offset the state's offset
     * @param state opaque
     */
    record Checkpoint(long offset, ByteBuffer state) {}
}
