package io.varve.bookie.repair;

import io.varve.bookie.store.SegmentStore;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/** Finds out whether a bookie's copy of a sealed segment is one that readers can be sent to: every byte of it is read. */
final class WholeCopy {

    private static final int CHUNK_BYTES = 1 << 20;

    private WholeCopy() {}

    /**
     * Reads it; waits for the disk.
     *
     * @throws IOException if an entry is missing or not as it was written
     */
    static void check(SegmentStore store, SegmentDescriptor segment) throws IOException {
        long next = segment.startOffset();
        try (SealedSegmentSource source = store.openSealed(segment)) {
            for (Optional<ByteBuffer> entries = source.next(CHUNK_BYTES);
                    entries.isPresent();
                    entries = source.next(CHUNK_BYTES)) {
                next = checked(entries.get(), next);
            }
        }
        if (next != segment.endOffset()) {
            throw new IOException("it ends at offset " + next + ", not " + segment.endOffset());
        }
    }

    private static long checked(ByteBuffer entries, long from) throws IOException {
        long next = from;
        for (int at = entries.position(); at < entries.limit(); ) {
            if (!EntryFormat.isIntact(entries, at) || EntryFormat.firstOffset(entries, at) != next) {
                throw new IOException("it has no intact entry at offset " + next);
            }
            next = EntryFormat.lastOffset(entries, at) + 1;
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
        }
        return next;
    }
}
