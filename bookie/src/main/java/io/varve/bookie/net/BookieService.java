package io.varve.bookie.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.base.Clock;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.store.SegmentStore;
import io.varve.protocol.rpc.RpcPeer;
import io.varve.protocol.rpc.RpcRequest;
import io.varve.protocol.rpc.RpcServerStream;
import io.varve.protocol.rpc.RpcService;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcStreamHandler;
import io.varve.protocol.storage.StorageCodec;
import io.varve.protocol.storage.StorageMethods;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The methods of a bookie. Requests that make no sense are answered as INVALID and the connection is kept. */
public final class BookieService implements RpcService {

    private static final Logger LOG = LoggerFactory.getLogger(BookieService.class);

    private final SegmentStore store;
    private final int readBytesMax;
    private final NetMetrics metrics;
    private final Clock clock;
    private final Map<RpcPeer, ReadQueue> reads = new ConcurrentHashMap<>();
    private volatile boolean draining;

    /** @param readBytesMax what one read may return, beyond its first entry */
    public BookieService(SegmentStore store, int readBytesMax, Clock clock, NetMetrics metrics) {
        this.clock = clock;
        this.store = store;
        this.readBytesMax = readBytesMax;
        this.metrics = metrics;
    }

    /** From now on owners that append are sent elsewhere, once what they appended before is acknowledged. Reads and fences go on. */
    public void drain() {
        draining = true;
    }

    @Override
    public void onConnected(RpcPeer peer) {
        reads.put(peer, new ReadQueue(peer, store, clock, metrics));
    }

    @Override
    public void onDisconnected(RpcPeer peer) {
        reads.remove(peer).close();
    }

    @Override
    public RpcStreamHandler onStream(RpcServerStream stream) {
        if (stream.method() != StorageMethods.APPEND_STREAM) {
            return RpcService.super.onStream(stream);
        }
        return new AppendSession(stream, store, metrics, () -> draining);
    }

    @Override
    public void onRequest(RpcRequest request) {
        try {
            switch (request.method()) {
                case StorageMethods.FENCE -> onFence(request);
                case StorageMethods.READ -> onRead(request);
                case StorageMethods.READ_CHECKPOINT -> onReadCheckpoint(request);
                case StorageMethods.DESCRIBE -> onDescribe(request);
                default -> request.fail(RpcStatus.UNSUPPORTED, "a bookie has no method " + request.method());
            }
        } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
            metrics.malformed();
            request.fail(RpcStatus.INVALID, "malformed request: " + e.getMessage());
        }
    }

    private void onFence(RpcRequest request) {
        List<FenceRequest> fences = StorageCodec.readFences(request.body()).stream()
                .map(f -> new FenceRequest(f.partition(), f.epoch(), f.segment(), f.incarnation()))
                .toList();
        answer(request, store.fence(fences), replies -> {
            ByteBuf body = ByteBufAllocator.DEFAULT.buffer(Integer.BYTES + replies.size() * StorageCodec.REPLICA_BYTES);
            StorageCodec.writeReplicas(
                    body, replies.stream().map(BookieService::toState).toList());
            request.reply(body);
        });
    }

    private void onRead(RpcRequest request) {
        StorageCodec.Read asked = StorageCodec.readRead(request.body());
        int bytesMax = Math.max(0, Math.min(asked.bytesMax(), readBytesMax));
        StorageCodec.Read read = new StorageCodec.Read(asked.segment(), asked.fromOffset(), bytesMax, asked.priority());
        reads.get(request.peer()).add(request, read, ReadQueue.priorityOf(read));
    }

    private void onReadCheckpoint(RpcRequest request) {
        SegmentId segment = StorageCodec.readSegment(request.body());
        long atMostOffset = request.body().readLong();
        answer(request, store.readCheckpoint(segment, atMostOffset), reply -> {
            ByteBuf head = ByteBufAllocator.DEFAULT.buffer(StorageCodec.CHECKPOINT_REPLY_HEAD_BYTES);
            StorageCodec.writeCheckpointReplyHead(head, reply.status().code(), reply.offset());
            request.reply(head, reply.state());
        });
    }

    private void onDescribe(RpcRequest request) {
        SegmentId segment = StorageCodec.readSegment(request.body());
        FenceReply replica = store.describe(segment, request.body().readLong());
        ByteBuf body = ByteBufAllocator.DEFAULT.buffer(StorageCodec.REPLICA_BYTES);
        StorageCodec.writeReplica(body, toState(replica));
        request.reply(body);
    }

    /** The store's futures don't fail; should one do so all the same, the caller is told that the outcome is unknown. */
    private static <T> void answer(RpcRequest request, CompletableFuture<T> reply, Consumer<T> write) {
        reply.whenComplete((answer, failure) -> {
            if (failure == null) {
                write.accept(answer);
            } else {
                LOG.error("event=store-failed method={} peer=\"{}\"", request.method(), request.peer(), failure);
                request.fail(RpcStatus.INTERNAL, "the store failed");
            }
        });
    }

    private static StorageCodec.ReplicaState toState(FenceReply reply) {
        return new StorageCodec.ReplicaState(
                reply.status().code(),
                reply.end(),
                reply.highWatermark(),
                reply.incarnation(),
                reply.sealed(),
                reply.fenceEpoch());
    }
}
