package io.varve.tiering.testing;

import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/** Sealed segments out of a seed: the same seed, the same bytes. */
public final class TestSegments {

    public static final String CLUSTER = "cluster-1";
    public static final PartitionId PARTITION = new PartitionId(new TopicId(0x0123456789abcdefL, 42), 7);

    private static final int BATCH_HEADER_BYTES = 61;

    private TestSegments() {}

    /**
     * An entry as a bookie holds it: a record batch by its head, with noise behind it.
     *
     * @param bytes of the payload, at least 61
     */
    public static ByteBuffer entry(
            long firstOffset,
            int records,
            long maxTimestampMs,
            int bytes,
            boolean compressible,
            SplittableRandom random) {
        ByteBuffer payload = ByteBuffer.allocate(Math.max(bytes, BATCH_HEADER_BYTES));
        while (payload.remaining() >= 8) {
            payload.putLong(compressible ? random.nextInt(4) : random.nextLong());
        }
        payload.clear();
        payload.putLong(0, firstOffset)
                .putInt(8, payload.limit() - 12)
                .put(16, (byte) 2)
                .putInt(23, records - 1)
                .putLong(35, maxTimestampMs)
                .putInt(57, records);
        ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES + payload.limit());
        long lastOffset = firstOffset + records - 1;
        EntryFormat.putHeader(
                entry,
                firstOffset,
                lastOffset,
                payload.limit(),
                EntryFormat.checksum(firstOffset, lastOffset, payload));
        return entry.put(payload).flip();
    }

    /** A segment with its entries. */
    public record Segment(SegmentDescriptor descriptor, List<ByteBuffer> entries, Optional<ByteBuffer> checkpoint) {

        /** It, as a bookie offers it. */
        public Source source() {
            return new Source(this);
        }
    }

    /**
     * A sealed segment.
     *
     * @param id also the seed
     * @param entries how many
     * @param bytes of each, nearly
     */
    public static Segment segment(long id, long startOffset, int entries, int bytes, boolean compressible) {
        SplittableRandom random = new SplittableRandom(id);
        List<ByteBuffer> made = new ArrayList<>();
        long offset = startOffset;
        long size = 0;
        long maxTimestampMs = -1;
        for (int i = 0; i < entries; i++) {
            int records = 1 + random.nextInt(10);
            long timestampMs = 1_000_000 + 10 * offset + random.nextInt(100);
            ByteBuffer entry =
                    entry(offset, records, timestampMs, bytes / 2 + random.nextInt(bytes), compressible, random);
            made.add(entry);
            offset += records;
            size += entry.remaining();
            maxTimestampMs = Math.max(maxTimestampMs, timestampMs);
        }
        SegmentDescriptor descriptor = new SegmentDescriptor(
                new SegmentId(id),
                PARTITION,
                (int) id,
                SegmentDescriptor.State.SEALED,
                startOffset,
                offset,
                2,
                List.of(),
                List.of(),
                size,
                maxTimestampMs,
                1000,
                2000,
                Optional.empty());
        ByteBuffer checkpoint = ByteBuffer.allocate(100);
        checkpoint.putLong(0, id).putLong(8, startOffset);
        return new Segment(descriptor, made, Optional.of(checkpoint));
    }

    /** Adjoining segments with ids from 1 on. */
    public static List<Segment> chain(int segments, int entriesEach, int bytesEach, boolean compressible) {
        List<Segment> chain = new ArrayList<>();
        long offset = 0;
        for (int i = 1; i <= segments; i++) {
            Segment segment = segment(i, offset, entriesEach, bytesEach, compressible);
            chain.add(segment);
            offset = segment.descriptor().endOffset();
        }
        return chain;
    }

    /** A segment as its holder reads it. */
    public static final class Source implements SealedSegmentSource {

        private final Segment segment;
        private int at;
        private boolean closed;

        Source(Segment segment) {
            this.segment = segment;
        }

        /** Whether it was closed. */
        public boolean isClosed() {
            return closed;
        }

        @Override
        public SegmentDescriptor segment() {
            return segment.descriptor();
        }

        @Override
        public Optional<ByteBuffer> next(int maxBytes) throws IOException {
            if (closed) {
                throw new IOException("closed");
            }
            if (at == segment.entries().size()) {
                return Optional.empty();
            }
            int from = at;
            int bytes = 0;
            while (at < segment.entries().size()
                    && (at == from || bytes + segment.entries().get(at).remaining() <= maxBytes)) {
                bytes += segment.entries().get(at).remaining();
                at++;
            }
            ByteBuffer all = ByteBuffer.allocate(bytes);
            segment.entries().subList(from, at).forEach(entry -> all.put(entry.duplicate()));
            return Optional.of(all.flip());
        }

        @Override
        public Optional<Checkpoint> lastCheckpoint() {
            return segment.checkpoint()
                    .map(state -> new Checkpoint(segment.descriptor().startOffset(), state));
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
