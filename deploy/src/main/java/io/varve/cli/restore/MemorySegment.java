package io.varve.cli.restore;

import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import io.varve.serving.tools.CommittedOffsets.Correction;
import io.varve.tiering.api.SealedSegmentSource;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/** A small sealed segment that was never on a disk. One thread. */
final class MemorySegment implements SealedSegmentSource {

    private final SegmentDescriptor segment;
    private final Deque<ByteBuffer> entries = new ArrayDeque<>();

    private MemorySegment(SegmentDescriptor segment) {
        this.segment = segment;
    }

    /**
     * A segment of these batches.
     *
     * @param descriptor sealed where they end
     */
    static MemorySegment of(SegmentDescriptor descriptor, List<Correction> batches) {
        MemorySegment made = new MemorySegment(descriptor);
        batches.forEach(batch -> made.entries.add(entry(batch)));
        return made;
    }

    static ByteBuffer entry(Correction batch) {
        ByteBuffer payload = batch.batch();
        ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES + payload.remaining());
        EntryFormat.putHeader(
                entry,
                batch.firstOffset(),
                batch.lastOffset(),
                payload.remaining(),
                EntryFormat.checksum(batch.firstOffset(), batch.lastOffset(), payload));
        return entry.put(payload.duplicate()).flip();
    }

    @Override
    public SegmentDescriptor segment() {
        return segment;
    }

    @Override
    public Optional<ByteBuffer> next(int maxBytes) {
        return Optional.ofNullable(entries.poll());
    }

    @Override
    public Optional<Checkpoint> lastCheckpoint() {
        return Optional.empty();
    }

    @Override
    public void close() {}
}
