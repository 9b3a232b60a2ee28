package io.varve.tiering.core;

import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;

/**
 * Writes an object front to back into a sink, in the memory of one block. Every entry is checked before it goes in: what is damaged or
 * doesn't follow on is never uploaded. Not safe for several threads.
 *
 * @param <X> what the sink throws
 */
public final class ObjectBuilder<X extends Exception> {

    private final Identity identity;
    private final int blockBytesTarget;
    private final BlockCompression compression;
    private final Sink<X> sink;
    private final Memory memory;
    private final BlockIndex.Builder index = new BlockIndex.Builder();
    private final List<Checkpoint> checkpoints = new ArrayList<>();
    private final List<ObjectFooter.Segment> segments = new ArrayList<>();

    private ByteBuffer block;
    private long blockFirstOffset;
    private long blockMaxTimestampMs = EntryTimes.NONE;

    private int headerCrc;
    private long position;
    private SegmentDescriptor segment;
    private long segmentBytes;
    private long segmentMaxTimestampMs;
    private long nextOffset;
    private long entries;
    private long rawBytes;
    private long maxTimestampMs = EntryTimes.NONE;

    /** {@link #ObjectBuilder(Identity, int, Memory, BlockCompression, Sink)} with memory of its own. */
    public ObjectBuilder(Identity identity, int blockBytesTarget, BlockCompression compression, Sink<X> sink) {
        this(identity, blockBytesTarget, new Memory(blockBytesTarget, ByteBuffer::allocate), compression, sink);
    }

    /**
     * @param blockBytesTarget a block is closed before the entry that would make it larger
     * @param memory for blocks of that size; the builder's until it has finished or is given up
     * @param compression tried on every block
     * @param sink takes the object's bytes in order
     */
    public ObjectBuilder(
            Identity identity, int blockBytesTarget, Memory memory, BlockCompression compression, Sink<X> sink) {
        this.identity = identity;
        this.blockBytesTarget = blockBytesTarget;
        this.memory = memory;
        this.compression = compression;
        this.sink = sink;
        this.block = memory.block(blockBytesTarget);
    }

    /**
     * Room for a block, and for the same block compressed: to build one object in after the other. A block of more than the usual size is made
     * for itself. Not safe for several threads.
     */
    public static final class Memory {

        private final ByteBuffer block;
        private final ByteBuffer packed;

        /** @param from makes memory of a size, all of it between position and limit */
        public Memory(int blockBytesTarget, IntFunction<ByteBuffer> from) {
            this.block = from.apply(blockBytesTarget);
            this.packed = from.apply(packedBytesMax(blockBytesTarget));
        }

        /** So many bytes, from 0 to the limit; they are the same ones the next time. */
        public ByteBuffer block(int bytes) {
            return bytes <= block.capacity() ? block.clear().limit(bytes) : ByteBuffer.allocate(bytes);
        }

        private ByteBuffer packed(int bytes) {
            return bytes <= packed.capacity() ? packed.clear().limit(bytes) : ByteBuffer.allocate(bytes);
        }
    }

    /**
     * Where the object's bytes go.
     *
     * @param <X> what can go wrong there
     */
    @FunctionalInterface
    public interface Sink<X extends Exception> {
        /** Takes the bytes from the position to the limit. They are the builder's again when this returns. */
        void write(ByteBuffer bytes) throws X;
    }

    /**
     * Whose object it is.
     *
     * @param createdMs wall time, for people
     */
    public record Identity(String clusterId, String topicName, PartitionId partition, long attemptId, long createdMs) {}

    /**
     * What was written.
     *
     * @param length of the object in bytes
     * @param crc the trailer's checksum
     * @param startOffset the first offset held
     * @param endOffset exclusive
     * @param maxTimestampMs the largest record time, {@code -1} if none
     * @param rawBytes of the entries before compression
     */
    public record Written(long length, int crc, long startOffset, long endOffset, long maxTimestampMs, long rawBytes) {}

    private record Checkpoint(long offset, ByteBuffer state) {}

    /** Begins the next segment; it must be sealed and start where the one before ended. */
    public void beginSegment(SegmentDescriptor next) throws X {
        Invariant.check(segment == null, "the segment before was ended");
        Invariant.check(next.state() == SegmentDescriptor.State.SEALED, "only sealed segments are offloaded");
        Invariant.check(next.partition().equals(identity.partition()), "an object holds one partition");
        if (segments.isEmpty()) {
            ByteBuffer header =
                    new ObjectHeader(identity.partition(), identity.attemptId(), next.startOffset()).encode();
            headerCrc = Crc.of(header, 0, header.limit());
            write(header);
            nextOffset = next.startOffset();
        }
        Invariant.check(next.startOffset() == nextOffset, "I-8 segments adjoin", next.startOffset(), nextOffset);
        segment = next;
        segmentBytes = 0;
        segmentMaxTimestampMs = EntryTimes.NONE;
    }

    /**
     * Adds whole entries.
     *
     * @param from from the position to the limit; moved to the limit
     * @throws ObjectFormatException if one is damaged, doesn't follow on or lies beyond the segment's end
     */
    public void append(ByteBuffer from) throws X, ObjectFormatException {
        Invariant.check(segment != null, "entries belong to a segment");
        while (from.hasRemaining()) {
            int at = from.position();
            if (!EntryFormat.isIntact(from, at)) {
                throw ObjectFormatException.corrupt("the entry at offset " + nextOffset + " is not intact");
            }
            long first = EntryFormat.firstOffset(from, at);
            long last = EntryFormat.lastOffset(from, at);
            if (first != nextOffset || last >= segment.endOffset()) {
                throw ObjectFormatException.corrupt("an entry of offsets " + first + " to " + last + " where "
                        + nextOffset + " is due and the segment ends at " + segment.endOffset());
            }
            int bytes = EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(from, at);
            makeRoom(bytes);
            if (block.position() == 0) {
                blockFirstOffset = first;
            }
            long timestampMs = EntryTimes.maxTimestampMs(from, at);
            blockMaxTimestampMs = Math.max(blockMaxTimestampMs, timestampMs);
            segmentMaxTimestampMs = Math.max(segmentMaxTimestampMs, timestampMs);
            block.put(from.slice(at, bytes));
            from.position(at + bytes);
            nextOffset = last + 1;
            segmentBytes += bytes;
            entries++;
        }
    }

    /**
     * Ends the segment.
     *
     * @param checkpointOffset the owner's last checkpoint's
     * @param state opaque, copied; null if there is none
     * @throws ObjectFormatException if entries are missing
     */
    public void endSegment(long checkpointOffset, ByteBuffer state) throws ObjectFormatException {
        if (nextOffset != segment.endOffset()) {
            throw ObjectFormatException.corrupt("segment " + segment.id() + " was read up to " + nextOffset
                    + " and ends at " + segment.endOffset());
        }
        if (state != null) {
            if (state.remaining() > ObjectFormat.SECTION_BYTES_MAX) {
                throw ObjectFormatException.corrupt("a checkpoint of " + state.remaining() + " bytes");
            }
            ByteBuffer copy = ByteBuffer.allocate(state.remaining()).put(state.duplicate());
            checkpoints.add(new Checkpoint(checkpointOffset, copy.flip()));
        }
        segments.add(new ObjectFooter.Segment(
                segment.id(),
                segment.epoch(),
                segment.startOffset(),
                segment.endOffset(),
                segmentBytes,
                segmentMaxTimestampMs,
                segment.createdMs(),
                segment.sealedMs()));
        rawBytes += segmentBytes;
        maxTimestampMs = Math.max(maxTimestampMs, segmentMaxTimestampMs);
        segment = null;
    }

    /** Writes what comes after the blocks. The builder isn't used again. */
    public Written finish() throws X {
        Invariant.check(
                segment == null && !segments.isEmpty(), "an object has at least one segment, all of them ended");
        flushBlock();
        long blocksEnd = position;
        List<ObjectFooter.Section> sections = new ArrayList<>();
        for (Checkpoint checkpoint : checkpoints) {
            ByteBuffer state = checkpoint.state();
            sections.add(new ObjectFooter.Section(
                    ObjectFormat.SECTION_CHECKPOINT,
                    checkpoint.offset(),
                    position,
                    state.limit(),
                    Crc.of(state, 0, state.limit())));
            write(state);
        }
        int blocks = index.blocks();
        ByteBuffer indexBytes = index.encode();
        long startOffset = segments.get(0).startOffset();
        ObjectFooter footer = new ObjectFooter(
                identity.clusterId(),
                identity.topicName(),
                identity.partition(),
                identity.attemptId(),
                startOffset,
                nextOffset,
                maxTimestampMs,
                entries,
                rawBytes,
                identity.createdMs(),
                headerCrc,
                blocksEnd,
                ObjectFormat.INDEX_ENTRY_BYTES,
                blocks,
                Crc.of(indexBytes, 0, indexBytes.limit()),
                sections,
                segments);
        ByteBuffer tail = ObjectTail.encode(indexBytes, footer, position);
        int crc = tail.getInt(tail.limit() - ObjectFormat.TRAILER_BYTES + ObjectTail.CRC_AT);
        write(tail);
        return new Written(position, crc, startOffset, nextOffset, maxTimestampMs, rawBytes);
    }

    private void makeRoom(int bytes) throws X {
        if (block.remaining() >= bytes) {
            return;
        }
        flushBlock();
        if (block.capacity() < bytes) {
            block = ByteBuffer.allocate(bytes);
        }
    }

    private void flushBlock() throws X {
        if (block.position() == 0) {
            return;
        }
        ByteBuffer raw = block.flip();
        ByteBuffer packed = memory.packed(packedBytesMax(raw.limit()));
        boolean isSmaller = compression.compress(raw, packed);
        ByteBuffer stored = isSmaller ? packed.flip() : raw.duplicate();
        int codec = isSmaller ? compression.codec() : BlockIndex.CODEC_RAW;
        index.add(
                blockFirstOffset,
                blockMaxTimestampMs,
                position,
                stored.remaining(),
                raw.limit(),
                Crc.of(stored, stored.position(), stored.remaining()),
                codec);
        write(stored);
        blockMaxTimestampMs = EntryTimes.NONE;
        block = memory.block(blockBytesTarget);
    }

    /** A frame that saves less than an eighth isn't worth the reader's time; most clients compress their batches anyway. */
    private static int packedBytesMax(int rawBytes) {
        return rawBytes - rawBytes / 8;
    }

    private void write(ByteBuffer bytes) throws X {
        position += bytes.remaining();
        sink.write(bytes);
    }
}
