package io.varve.serving.partition;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieStatus;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.record.RecordBatchHeader;
import io.varve.protocol.storage.EntryFormat;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.SealedSegmentSource.Checkpoint;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** One bookie and a bucket, each with what a test puts there, and troubles on order. Answers at once. */
final class FakeTiers implements ReadOnlyBookies, RemoteSegments, ChainManifests {

    private final Map<Long, List<ByteBuffer>> replicas = new TreeMap<>();
    private final Map<Long, ByteBuffer> replicaCheckpoints = new TreeMap<>();
    private final Map<String, List<ByteBuffer>> objects = new TreeMap<>();
    private final Map<String, ByteBuffer> objectCheckpoints = new TreeMap<>();
    private Optional<Kind> readTrouble = Optional.empty();
    private Optional<Kind> checkpointTrouble = Optional.empty();
    private Runnable onRead = () -> {};

    /** Batches on the bookie, and what its checkpoint says; null if it has none. */
    void hold(long segment, List<ByteBuffer> batches, ByteBuffer checkpoint) {
        replicas.put(segment, batches);
        if (checkpoint != null) {
            replicaCheckpoints.put(segment, checkpoint);
        }
    }

    /** Batches in the bucket. */
    void upload(String key, List<ByteBuffer> batches, ByteBuffer checkpoint) {
        objects.put(key, batches);
        if (checkpoint != null) {
            objectCheckpoints.put(key, checkpoint);
        }
    }

    /** Entries can't be read from the bucket. */
    void breakReads(Kind kind) {
        readTrouble = Optional.of(kind);
    }

    /** Checkpoints can't be read from the bucket. */
    void breakCheckpoints(Kind kind) {
        checkpointTrouble = Optional.of(kind);
    }

    /** From now on all can be read. */
    void mend() {
        readTrouble = Optional.empty();
        checkpointTrouble = Optional.empty();
    }

    /** What happens once, while the next entries are read. */
    void whileReading(Runnable event) {
        onRead = event;
    }

    private void reading() {
        Runnable event = onRead;
        onRead = () -> {};
        event.run();
    }

    /** Entries from the one that holds an offset on, to the end. */
    private static ByteBuf entries(List<ByteBuffer> batches, long fromOffset) {
        ByteBuf all = Unpooled.buffer();
        for (ByteBuffer batch : batches) {
            long first = RecordBatchHeader.baseOffset(batch, 0);
            long last = RecordBatchHeader.lastOffset(batch, 0);
            if (last >= fromOffset) {
                ByteBuffer head = ByteBuffer.allocate(EntryFormat.HEADER_BYTES);
                EntryFormat.putHeader(
                        head, first, last, batch.remaining(), EntryFormat.checksum(first, last, batch.duplicate()));
                all.writeBytes(head.flip()).writeBytes(batch.duplicate());
            }
        }
        return all;
    }

    // ---- the bookie

    @Override
    public CompletableFuture<ReadReply> read(
            BookieAddress bookie,
            SegmentId segment,
            long fromOffset,
            int maxBytes,
            ReadPriority priority,
            long timeoutMs) {
        reading();
        List<ByteBuffer> batches = replicas.get(segment.value());
        return CompletableFuture.completedFuture(
                batches == null
                        ? new ReadReply(BookieStatus.NO_SUCH_SEGMENT, Unpooled.EMPTY_BUFFER, -1, -1)
                        : new ReadReply(BookieStatus.OK, entries(batches, fromOffset), -1, -1));
    }

    @Override
    public CompletableFuture<CheckpointReply> readCheckpoint(
            BookieAddress bookie, SegmentId segment, long atMostOffset, long timeoutMs) {
        ByteBuffer state = replicaCheckpoints.get(segment.value());
        BookieStatus none =
                replicas.containsKey(segment.value()) ? BookieStatus.BEYOND_END : BookieStatus.NO_SUCH_SEGMENT;
        return CompletableFuture.completedFuture(
                state == null
                        ? new CheckpointReply(none, -1, Unpooled.EMPTY_BUFFER)
                        : new CheckpointReply(BookieStatus.OK, -1, Unpooled.wrappedBuffer(state.duplicate())));
    }

    // ---- the bucket

    @Override
    public CompletableFuture<RemoteEntries> read(
            ObjectRef object, PartitionId partition, long fromOffset, int maxBytes, Following following) {
        reading();
        if (readTrouble.isPresent()) {
            return trouble(object, readTrouble.get());
        }
        List<ByteBuffer> batches = objects.get(object.key());
        return batches == null
                ? trouble(object, Kind.MISSING)
                : CompletableFuture.completedFuture(
                        new RemoteEntries(entries(batches, fromOffset), object.endOffset()));
    }

    @Override
    public CompletableFuture<Optional<Long>> entryForTimestamp(
            ObjectRef object, PartitionId partition, long timestampMs) {
        List<Long> found = new ArrayList<>();
        for (ByteBuffer batch : objects.get(object.key())) {
            if (RecordBatchHeader.maxTimestampMs(batch, 0) >= timestampMs) {
                found.add(RecordBatchHeader.baseOffset(batch, 0));
            }
        }
        return CompletableFuture.completedFuture(found.stream().findFirst());
    }

    @Override
    public CompletableFuture<Optional<Checkpoint>> checkpoint(
            ObjectRef object, PartitionId partition, long atMostOffset) {
        return checkpointTrouble.isPresent()
                ? trouble(object, checkpointTrouble.get())
                : CompletableFuture.completedFuture(Optional.ofNullable(objectCheckpoints.get(object.key()))
                        .map(state -> new Checkpoint(object.endOffset(), state)));
    }

    private static <T> CompletableFuture<T> trouble(ObjectRef object, Kind kind) {
        return CompletableFuture.failedFuture(new RemoteReadException(kind, object.key() + " on order", null));
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAt(
            ManifestRef manifest, PartitionId partition, long offset) {
        throw new UnsupportedOperationException("no manifests here");
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
            ManifestRef manifest, PartitionId partition, long timestampMs, long fromOffset) {
        throw new UnsupportedOperationException("no manifests here");
    }

    @Override
    public CompletableFuture<Long> timestampMsMost(ManifestRef manifest, PartitionId partition, long fromOffset) {
        throw new UnsupportedOperationException("no manifests here");
    }

    @Override
    public void close() {
        // Nothing is open.
    }
}
