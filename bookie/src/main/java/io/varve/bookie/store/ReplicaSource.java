package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Optional;

/** A replica read from start to end, up to the end that the metadata has decided. */
final class ReplicaSource implements SealedSegmentSource {

    private final SegmentDescriptor segment;
    private final Replica replica;
    private final SegmentReader reader;
    private long nextOffset;
    private ByteBuf current;

    ReplicaSource(SegmentDescriptor segment, Replica replica, SegmentReader reader) {
        this.segment = segment;
        this.replica = replica;
        this.reader = reader;
        this.nextOffset = segment.startOffset();
    }

    @Override
    public SegmentDescriptor segment() {
        return segment;
    }

    @Override
    public Optional<ByteBuffer> next(int maxBytes) throws IOException {
        releaseCurrent();
        if (nextOffset >= segment.endOffset()) {
            return Optional.empty();
        }
        ReadReply reply = reader.read(replica, nextOffset, maxBytes);
        if (reply.status() != BookieStatus.OK) {
            throw new IOException(
                    "segment " + segment.id() + " can't be read at offset " + nextOffset + ": " + reply.status());
        }
        current = reply.entries();
        ByteBuffer entries = current.nioBuffer();
        int at = 0;
        while (at < entries.limit() && EntryFormat.firstOffset(entries, at) < segment.endOffset()) {
            nextOffset = EntryFormat.lastOffset(entries, at) + 1;
            at += EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(entries, at);
        }
        if (nextOffset > segment.endOffset()) {
            throw new IOException("segment " + segment.id() + " has an entry across its end " + segment.endOffset());
        }
        return Optional.of(entries.limit(at).slice());
    }

    @Override
    public Optional<Checkpoint> lastCheckpoint() throws IOException {
        CheckpointReply reply = reader.readCheckpoint(replica, segment.endOffset());
        if (reply.status() == BookieStatus.BEYOND_END) {
            return Optional.empty();
        }
        if (reply.status() != BookieStatus.OK) {
            throw new IOException("the checkpoint of segment " + segment.id() + " can't be read: " + reply.status());
        }
        ByteBuffer state = ByteBuffer.allocate(reply.state().readableBytes());
        reply.state().readBytes(state).release();
        return Optional.of(new Checkpoint(reply.offset(), state.flip()));
    }

    private void releaseCurrent() {
        if (current != null) {
            current.release();
            current = null;
        }
    }

    @Override
    public void close() {
        releaseCurrent();
    }
}
