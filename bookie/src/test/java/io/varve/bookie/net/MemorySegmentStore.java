package io.varve.bookie.net;

import io.netty.buffer.ByteBuf;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.client.MemoryReplicas;
import io.varve.bookie.store.DirectoryInfo;
import io.varve.bookie.store.ReplicaInfo;
import io.varve.bookie.store.SegmentImport;
import io.varve.bookie.store.SegmentStore;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;

/** A store in memory, on one thread of its own; can be held to make what is asked of it wait. */
final class MemorySegmentStore implements SegmentStore {

    private final MemoryReplicas replicas = new MemoryReplicas();
    private final ExecutorService thread = Executors.newSingleThreadExecutor();
    private final ArrayDeque<Runnable> held = new ArrayDeque<>();
    private final AtomicLong reads = new AtomicLong();
    private boolean holding;
    private boolean holdingDurable;

    /** How many reads were asked for. */
    long reads() {
        return reads.get();
    }

    /** What is asked from now on waits. */
    void hold() {
        thread.execute(() -> holding = true);
    }

    /** Appends from now on are taken, and don't become durable; what is refused is answered at once. */
    void holdDurable() {
        thread.execute(() -> holdingDurable = true);
    }

    /** What was held is done, and what comes is done at once again. */
    void letGo() {
        thread.execute(() -> {
            holding = false;
            holdingDurable = false;
            while (!held.isEmpty()) {
                held.poll().run();
            }
        });
    }

    private void run(Runnable task) {
        thread.execute(() -> {
            if (holding) {
                held.add(task);
            } else {
                task.run();
            }
        });
    }

    @Override
    public void createSegment(
            PartitionId partition,
            SegmentId segment,
            int epoch,
            long startOffset,
            long incarnation,
            CreateCallback callback) {
        run(() -> {
            MemoryReplicas.Answer answer = replicas.open(partition, segment, epoch, startOffset, incarnation);
            callback.onCreated(answer.status(), answer.end(), MemoryReplicas.INCARNATION);
        });
    }

    @Override
    public void append(
            SegmentId segment,
            int epoch,
            long firstOffset,
            long lastOffset,
            int crc,
            ByteBuf payload,
            long highWatermark,
            AppendCallback callback) {
        byte[] bytes = take(payload);
        run(() -> {
            MemoryReplicas.Answer answer =
                    replicas.append(segment, epoch, firstOffset, lastOffset, crc, bytes, highWatermark);
            Runnable answered = () -> callback.onAppended(answer.status(), answer.end());
            if (holdingDurable && answer.status() == BookieStatus.OK) {
                held.add(answered);
            } else {
                answered.run();
            }
        });
    }

    @Override
    public void checkpoint(SegmentId segment, int epoch, long offset, ByteBuf state) {
        byte[] bytes = take(state);
        run(() -> replicas.checkpoint(segment, epoch, offset, bytes));
    }

    @Override
    public CompletableFuture<List<FenceReply>> fence(List<FenceRequest> requests) {
        CompletableFuture<List<FenceReply>> replies = new CompletableFuture<>();
        run(() -> replies.complete(requests.stream().map(replicas::fence).toList()));
        return replies;
    }

    @Override
    public CompletableFuture<BookieStatus> seal(SegmentId segment, int epoch, long endOffset) {
        CompletableFuture<BookieStatus> done = new CompletableFuture<>();
        run(() -> {
            replicas.seal(segment, epoch, endOffset);
            done.complete(BookieStatus.OK);
        });
        return done;
    }

    @Override
    public CompletableFuture<BookieStatus> delete(SegmentId segment, long incarnation) {
        throw new UnsupportedOperationException("not on the network");
    }

    @Override
    public CompletableFuture<ReadReply> read(SegmentId segment, long fromOffset, int maxBytes, ReadPriority priority) {
        CompletableFuture<ReadReply> reply = new CompletableFuture<>();
        reads.incrementAndGet();
        run(() -> reply.complete(replicas.read(segment, fromOffset, maxBytes)));
        return reply;
    }

    @Override
    public CompletableFuture<CheckpointReply> readCheckpoint(SegmentId segment, long atMostOffset) {
        CompletableFuture<CheckpointReply> reply = new CompletableFuture<>();
        run(() -> reply.complete(replicas.readCheckpoint(segment, atMostOffset)));
        return reply;
    }

    @Override
    public FenceReply describe(SegmentId segment, long incarnation) {
        return CompletableFuture.supplyAsync(() -> replicas.describe(segment, incarnation), thread)
                .join();
    }

    @Override
    public SealedSegmentSource openSealed(SegmentDescriptor segment) throws IOException {
        throw new UnsupportedOperationException("not on the network");
    }

    @Override
    public SegmentImport importSegment(SegmentDescriptor segment, long incarnation) throws IOException {
        throw new UnsupportedOperationException("not on the network");
    }

    @Override
    public List<ReplicaInfo> inventory() {
        return List.of();
    }

    @Override
    public List<DirectoryInfo> directories() {
        return List.of();
    }

    @Override
    public boolean isReadOnly() {
        return false;
    }

    @Override
    public boolean isCongested() {
        return false;
    }

    @Override
    public void whenRelieved(Runnable action) {
        action.run();
    }

    @Override
    public void close() {
        thread.shutdown();
    }

    private static byte[] take(ByteBuf bytes) {
        byte[] taken = new byte[bytes.readableBytes()];
        bytes.getBytes(bytes.readerIndex(), taken);
        bytes.release();
        return taken;
    }
}
