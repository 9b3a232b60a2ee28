package io.varve.metadata.net;

import com.google.protobuf.InvalidProtocolBufferException;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.metadata.core.ImageRecords;
import io.varve.metadata.core.MetadataImage;
import io.varve.protocol.meta.MetadataRecord;
import io.varve.protocol.meta.WatchBatch;
import io.varve.protocol.meta.WatchMessage;
import io.varve.protocol.meta.WatchRequest;
import io.varve.protocol.meta.WatchSnapshotPart;
import io.varve.protocol.rpc.RpcServerStream;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcStreamHandler;
import java.util.Iterator;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * One client's watch: sends every change since the version it has, or the whole state first if it is too far behind, as fast as the client takes it. What a slow client has not been sent
 * is not held for it: it is in the {@link ChangeLog}, or else in an image. Lives on the connection's event loop.
 */
final class Watch implements RpcStreamHandler {

    private static final int BATCH_BYTES_TARGET = 1 << 20;
    private static final int SNAPSHOT_PART_BYTES_TARGET = 1 << 20;

    private final ChangeLog log;
    private final RpcServerStream stream;
    private final Runnable onEnd;
    private final AtomicBoolean scheduled = new AtomicBoolean();
    private boolean started;
    private boolean ended;
    private long version;
    private long digest;

    /** A whole state under way: its records not yet sent, or null. */
    private SnapshotInParts snapshot;

    Watch(ChangeLog log, RpcServerStream stream, Runnable onEnd) {
        this.log = log;
        this.stream = stream;
        this.onEnd = onEnd;
    }

    /** There is something new, perhaps. Any thread. */
    void wake() {
        if (scheduled.compareAndSet(false, true)) {
            stream.execute(() -> {
                scheduled.set(false);
                send();
            });
        }
    }

    /** Ends it from this side. Any thread. */
    void end(String reason) {
        stream.execute(() -> {
            if (!ended) {
                ended = true;
                stream.end(RpcStatus.UNAVAILABLE, reason);
                onEnd.run();
            }
        });
    }

    @Override
    public void onMessage(ByteBuf message) {
        int bytes = message.readableBytes();
        begin(message);
        stream.consumed(bytes);
    }

    private void begin(ByteBuf message) {
        if (started) {
            return;
        }
        try {
            WatchRequest request = WatchRequest.parseFrom(message.nioBuffer());
            version = request.getVersion();
            digest = request.getDigest();
            started = true;
            send();
        } catch (InvalidProtocolBufferException malformed) {
            end("the watch's request made no sense");
        }
    }

    @Override
    public void onWritable() {
        send();
    }

    @Override
    public void onEnd(RpcStatus status, String reason) {
        if (!ended) {
            ended = true;
            onEnd.run();
        }
    }

    private void send() {
        while (started && !ended && stream.isWritable()) {
            WatchMessage message = next();
            if (message == null) {
                return;
            }
            stream.send(Unpooled.wrappedBuffer(message.toByteArray()));
        }
    }

    private WatchMessage next() {
        MetadataImage newest = log.newest();
        if (snapshot == null && version > newest.version()) {
            // It has seen more than this node has applied: this node catches up, for versions never move back.
            return null;
        }
        if (snapshot == null && !log.reaches(version, digest)) {
            snapshot = new SnapshotInParts(log.newest());
        }
        if (snapshot != null) {
            WatchSnapshotPart part = snapshot.next();
            if (part.getLast()) {
                version = part.getVersion();
                digest = part.getDigest();
                snapshot = null;
            }
            return WatchMessage.newBuilder().setSnapshot(part).build();
        }
        return nextBatch();
    }

    private WatchMessage nextBatch() {
        WatchBatch.Builder batch = WatchBatch.newBuilder();
        int bytes = 0;
        MetadataImage newest = log.newest();
        while (bytes < BATCH_BYTES_TARGET && version < newest.version()) {
            ChangeLog.Change change = log.after(version);
            if (change == null || change.beforeVersion() != version) {
                break;
            }
            batch.addChanges(change.proto());
            bytes += change.proto().getSerializedSize();
            version = change.proto().getVersion();
            ChangeLog.Change next = log.after(version);
            digest = next != null ? next.digestBefore() : newest.digest();
        }
        return bytes == 0 ? null : WatchMessage.newBuilder().setBatch(batch).build();
    }

    /** A whole state, cut into messages; its records are made as they are sent. */
    private static final class SnapshotInParts {
        private final MetadataImage image;
        private final Iterator<MetadataRecord> records;
        private boolean begun;

        SnapshotInParts(MetadataImage image) {
            this.image = image;
            this.records = ImageRecords.stream(image).iterator();
        }

        WatchSnapshotPart next() {
            WatchSnapshotPart.Builder part = WatchSnapshotPart.newBuilder().setFirst(!begun);
            begun = true;
            int bytes = 0;
            while (records.hasNext() && bytes < SNAPSHOT_PART_BYTES_TARGET) {
                MetadataRecord record = records.next();
                part.addRecords(record);
                bytes += record.getSerializedSize();
            }
            if (!records.hasNext()) {
                part.setLast(true).setVersion(image.version()).setDigest(image.digest());
            }
            return part.build();
        }
    }
}
