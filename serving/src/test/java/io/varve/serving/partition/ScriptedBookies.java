package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.AppendListener;
import io.varve.bookie.client.AppendStream;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieStatus;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;

/** Bookies that do what a test says, at once. They remember every buffer that went through them, to tell at the end that none is held. */
final class ScriptedBookies implements ReadOnlyBookies {

    /** Bookies that answer no read. */
    final TreeSet<BookieId> mute = new TreeSet<>();
    /** Bookies that confirm nothing. */
    final TreeSet<BookieId> hanging = new TreeSet<>();
    /** Reads that are answered before the rest is answered with NO_ANSWER. */
    int readsLeft = Integer.MAX_VALUE;

    /** Segments that were deleted everywhere. */
    final TreeSet<SegmentId> deleted = new TreeSet<>();

    int readChunkBytesMax = Integer.MAX_VALUE;
    long readBytes;

    final List<Stream> streams = new ArrayList<>();
    final List<SegmentId> checkpointsAsked = new ArrayList<>();
    private final TreeMap<BookieId, TreeMap<SegmentId, Copy>> copies = new TreeMap<>();
    private final List<ByteBuf> handedOut = new ArrayList<>();

    private static final class Copy {
        private final TreeMap<Long, byte[]> entries = new TreeMap<>();
        private final TreeMap<Long, byte[]> checkpoints = new TreeMap<>();
    }

    private Copy copy(BookieId bookie, SegmentId segment) {
        return copies.computeIfAbsent(bookie, b -> new TreeMap<>()).computeIfAbsent(segment, s -> new Copy());
    }

    /** Puts an entry where it was written long ago. */
    void put(BookieId bookie, SegmentId segment, ByteBuffer batch, long firstOffset, long lastOffset) {
        ByteBuffer entry = ByteBuffer.allocate(EntryFormat.HEADER_BYTES + batch.remaining());
        EntryFormat.putHeader(
                entry,
                firstOffset,
                lastOffset,
                batch.remaining(),
                EntryFormat.checksum(firstOffset, lastOffset, batch.duplicate()));
        entry.put(batch.duplicate());
        copy(bookie, segment).entries.put(firstOffset, entry.array());
    }

    /** The batches that a bookie holds of a segment. */
    List<ByteBuffer> batches(BookieId bookie, SegmentId segment) {
        return copy(bookie, segment).entries.values().stream()
                .map(entry -> ByteBuffer.wrap(entry)
                        .position(EntryFormat.HEADER_BYTES)
                        .slice())
                .toList();
    }

    TreeMap<Long, byte[]> checkpoints(BookieId bookie, SegmentId segment) {
        return copy(bookie, segment).checkpoints;
    }

    /** Every buffer was given back, and every stream has ended. */
    void assertNothingIsHeld() {
        assertThat(handedOut).allMatch(buffer -> buffer.refCnt() == 0);
        assertThat(streams).allMatch(stream -> stream.closed || stream.failed);
    }

    /** The stream to that bookie that was opened last. */
    Stream streamTo(int bookie) {
        for (int i = streams.size() - 1; i >= 0; i--) {
            if (streams.get(i).bookie.value() == bookie) {
                return streams.get(i);
            }
        }
        throw new AssertionError("no stream to " + bookie);
    }

    final class Stream implements AppendStream {
        final BookieId bookie;
        final SegmentId segment;
        final int epoch;
        long sealedEnd = -1;
        boolean closed;
        boolean failed;
        private final AppendListener listener;
        private long end;
        private long unconfirmedBytes;

        private Stream(BookieId bookie, SegmentId segment, int epoch, AppendListener listener) {
            this.bookie = bookie;
            this.segment = segment;
            this.epoch = epoch;
            this.listener = listener;
        }

        @Override
        public void append(long firstOffset, long lastOffset, int crc, ByteBuf payload, long highWatermark) {
            handedOut.add(payload);
            ByteBuffer batch = payload.nioBuffer();
            assertThat(crc).isEqualTo(EntryFormat.checksum(firstOffset, lastOffset, batch.duplicate()));
            put(bookie, segment, batch, firstOffset, lastOffset);
            end = lastOffset + 1;
            unconfirmedBytes += batch.remaining();
            payload.release();
            if (!hanging.contains(bookie)) {
                confirm();
            }
        }

        /** All that was sent is durable. */
        void confirm() {
            unconfirmedBytes = 0;
            listener.onDurable(end);
        }

        void fail(BookieStatus status) {
            failed = true;
            listener.onFailed(status, -1);
        }

        @Override
        public void checkpoint(long offset, ByteBuf state) {
            handedOut.add(state);
            byte[] bytes = new byte[state.readableBytes()];
            state.readBytes(bytes).release();
            copy(bookie, segment).checkpoints.put(offset, bytes);
        }

        @Override
        public void seal(long endOffset) {
            sealedEnd = endOffset;
        }

        @Override
        public long pendingBytes() {
            return unconfirmedBytes;
        }

        @Override
        public void close() {
            closed = true;
        }
    }

    @Override
    public AppendStream openAppend(
            BookieAddress bookie,
            PartitionId partition,
            SegmentId segment,
            int epoch,
            long startOffset,
            long incarnation,
            AppendListener listener) {
        Stream stream = new Stream(bookie.id(), segment, epoch, listener);
        streams.add(stream);
        return stream;
    }

    @Override
    public CompletableFuture<ReadReply> read(
            BookieAddress bookie,
            SegmentId segment,
            long fromOffset,
            int maxBytes,
            ReadPriority priority,
            long timeoutMs) {
        Map.Entry<Long, byte[]> holder = copy(bookie.id(), segment).entries.floorEntry(fromOffset);
        if (deleted.contains(segment) || mute.contains(bookie.id()) || readsLeft == 0 || holder == null) {
            return CompletableFuture.completedFuture(
                    new ReadReply(BookieStatus.NO_ANSWER, Unpooled.EMPTY_BUFFER, -1, -1));
        }
        readsLeft--;
        ByteBuf entries = Unpooled.buffer();
        for (byte[] entry :
                copy(bookie.id(), segment).entries.tailMap(holder.getKey()).values()) {
            if (entries.isReadable()
                    && entries.readableBytes() + entry.length > Math.min(maxBytes, readChunkBytesMax)) {
                break;
            }
            entries.writeBytes(entry);
        }
        readBytes += entries.readableBytes();
        handedOut.add(entries);
        return CompletableFuture.completedFuture(new ReadReply(BookieStatus.OK, entries, -1, -1));
    }

    @Override
    public CompletableFuture<CheckpointReply> readCheckpoint(
            BookieAddress bookie, SegmentId segment, long atMostOffset, long timeoutMs) {
        checkpointsAsked.add(segment);
        if (deleted.contains(segment)) {
            return CompletableFuture.completedFuture(
                    new CheckpointReply(BookieStatus.NO_SUCH_SEGMENT, -1, Unpooled.EMPTY_BUFFER));
        }
        if (mute.contains(bookie.id())) {
            return CompletableFuture.completedFuture(
                    new CheckpointReply(BookieStatus.NO_ANSWER, -1, Unpooled.EMPTY_BUFFER));
        }
        Map.Entry<Long, byte[]> found = copy(bookie.id(), segment).checkpoints.floorEntry(atMostOffset);
        return CompletableFuture.completedFuture(
                found == null
                        ? new CheckpointReply(BookieStatus.BEYOND_END, -1, Unpooled.EMPTY_BUFFER)
                        : new CheckpointReply(
                                BookieStatus.OK, found.getKey(), Unpooled.wrappedBuffer(found.getValue())));
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
