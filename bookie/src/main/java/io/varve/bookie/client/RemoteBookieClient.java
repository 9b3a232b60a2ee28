package io.varve.bookie.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.netty.buffer.Unpooled;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcException;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.storage.AppendFrames;
import io.varve.protocol.storage.StorageCodec;
import io.varve.protocol.storage.StorageMethods;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Speaks to bookies over the internal RPC. */
public final class RemoteBookieClient implements BookieClient {

    private static final Logger LOG = LoggerFactory.getLogger(RemoteBookieClient.class);
    private static final long CHECK_MS_MAX = 1_000;

    private final RpcClient client;
    private final Clock clock;
    private final BookieClientOptions options;
    private final Map<BookieAddress, BookieConnections> bookies = new ConcurrentHashMap<>();
    private final Set<RemoteAppendStream> streams = ConcurrentHashMap.newKeySet();
    private final RpcLoops.Repeated checking;

    public RemoteBookieClient(BookieClientOptions options) {
        this.options = options;
        this.clock = options.rpc().clock();
        this.client = new RpcClient(options.rpc());
        long checkMs = Math.max(1, Math.min(CHECK_MS_MAX, options.appendSilenceMsMax() / 10));
        this.checking = options.rpc().loops().every(checkMs, this::check);
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
        BookieConnections connections = connectionsTo(bookie);
        connections.streamOpened();
        RemoteAppendStream[] opened = new RemoteAppendStream[1];
        RemoteAppendStream stream = new RemoteAppendStream(
                connections.appends(),
                StorageMethods.APPEND_STREAM,
                new AppendFrames.Open(partition, segment, epoch, startOffset, incarnation),
                listener,
                clock,
                () -> {
                    connections.streamClosed();
                    connections.used(clock.nanoTime());
                    if (opened[0] != null) {
                        streams.remove(opened[0]);
                    }
                });
        opened[0] = stream;
        streams.add(stream);
        if (stream.isOver()) {
            streams.remove(stream);
        }
        return stream;
    }

    @Override
    public CompletableFuture<List<FenceReply>> fence(
            BookieAddress bookie, List<FenceRequest> requests, long timeoutMs) {
        List<StorageCodec.Fence> fences = requests.stream()
                .map(r -> new StorageCodec.Fence(r.partition(), r.epoch(), r.segment(), r.incarnation()))
                .toList();
        ByteBuf body = ByteBufAllocator.DEFAULT.buffer(StorageCodec.fencesBytes(fences.size()));
        StorageCodec.writeFences(body, fences);
        return call(
                bookie,
                StorageMethods.FENCE,
                body,
                timeoutMs,
                reply -> {
                    List<FenceReply> replies = StorageCodec.readReplicas(reply).stream()
                            .map(RemoteBookieClient::toFenceReply)
                            .toList();
                    if (replies.size() != requests.size()) {
                        throw new IllegalArgumentException(
                                replies.size() + " answers to " + requests.size() + " fences");
                    }
                    return replies;
                },
                status -> requests.stream().map(r -> noReplica(status)).toList());
    }

    @Override
    public CompletableFuture<ReadReply> read(
            BookieAddress bookie,
            SegmentId segment,
            long fromOffset,
            int maxBytes,
            ReadPriority priority,
            long timeoutMs) {
        ByteBuf body = ByteBufAllocator.DEFAULT.buffer();
        StorageCodec.writeRead(body, new StorageCodec.Read(segment, fromOffset, maxBytes, priority.ordinal()));
        return call(
                bookie,
                StorageMethods.READ,
                body,
                timeoutMs,
                reply -> toReadReply(bookie, segment, fromOffset, reply),
                status -> new ReadReply(status, Unpooled.EMPTY_BUFFER, -1, -1));
    }

    @Override
    public CompletableFuture<CheckpointReply> readCheckpoint(
            BookieAddress bookie, SegmentId segment, long atMostOffset, long timeoutMs) {
        ByteBuf body = ByteBufAllocator.DEFAULT.buffer();
        StorageCodec.writeSegmentAndLong(body, segment, atMostOffset);
        return call(
                bookie,
                StorageMethods.READ_CHECKPOINT,
                body,
                timeoutMs,
                reply -> {
                    BookieStatus status = BookieStatus.ofCode(reply.readUnsignedByte());
                    long offset = reply.readLong();
                    return status == BookieStatus.OK
                            ? new CheckpointReply(status, offset, reply.retainedSlice())
                            : new CheckpointReply(status, offset, Unpooled.EMPTY_BUFFER);
                },
                status -> new CheckpointReply(status, -1, Unpooled.EMPTY_BUFFER));
    }

    @Override
    public CompletableFuture<FenceReply> describe(BookieAddress bookie, SegmentId segment, long timeoutMs) {
        ByteBuf body = ByteBufAllocator.DEFAULT.buffer();
        StorageCodec.writeSegmentAndLong(body, segment, 0);
        return call(
                bookie,
                StorageMethods.DESCRIBE,
                body,
                timeoutMs,
                reply -> toFenceReply(StorageCodec.readReplica(reply)),
                RemoteBookieClient::noReplica);
    }

    @Override
    public void close() {
        checking.close();
        client.close();
    }

    /** What a failure of the RPC means to a user of bookies: whether it was sent makes no difference to what may be believed. */
    static BookieStatus statusOf(RpcStatus status) {
        return switch (status) {
            case OVERLOADED -> BookieStatus.OVERLOADED;
            case INVALID -> BookieStatus.INVALID;
            case NO_ANSWER, NOT_SENT, REFUSED, UNSUPPORTED, UNAVAILABLE, INTERNAL, ENDED -> BookieStatus.NO_ANSWER;
        };
    }

    private <T> CompletableFuture<T> call(
            BookieAddress bookie,
            int method,
            ByteBuf body,
            long timeoutMs,
            Function<ByteBuf, T> decode,
            Function<BookieStatus, T> failed) {
        BookieConnections connections = connectionsTo(bookie);
        return connections.calls().call(method, body, timeoutMs).handle((reply, failure) -> {
            connections.used(clock.nanoTime());
            if (failure != null) {
                Throwable cause = failure instanceof CompletionException wrapped ? wrapped.getCause() : failure;
                return failed.apply(
                        cause instanceof RpcException rpc ? statusOf(rpc.status()) : BookieStatus.NO_ANSWER);
            }
            try {
                return decode.apply(reply);
            } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
                LOG.warn(
                        "event=bookie-reply-garbage bookie={} method={} reason=\"{}\"", bookie, method, e.getMessage());
                return failed.apply(BookieStatus.NO_ANSWER);
            } finally {
                reply.release();
            }
        });
    }

    private BookieConnections connectionsTo(BookieAddress bookie) {
        long now = clock.nanoTime();
        BookieConnections connections =
                bookies.computeIfAbsent(bookie, address -> new BookieConnections(client, address, now));
        connections.used(now);
        return connections;
    }

    private void check() {
        long now = clock.nanoTime();
        long silenceNanosMax = TimeUnit.MILLISECONDS.toNanos(options.appendSilenceMsMax());
        streams.forEach(stream -> stream.checkProgress(now, silenceNanosMax));
        long idleNanosMax = TimeUnit.MILLISECONDS.toNanos(options.idleMsMax());
        // Removed under the map's lock of that key, so that nobody is handed connections that are about to be closed.
        for (BookieAddress address : bookies.keySet()) {
            bookies.computeIfPresent(address, (key, connections) -> {
                if (connections.isIdle(now, idleNanosMax)) {
                    connections.close();
                    return null;
                }
                return connections;
            });
        }
    }

    private static ReadReply toReadReply(BookieAddress bookie, SegmentId segment, long fromOffset, ByteBuf reply) {
        BookieStatus status = BookieStatus.ofCode(reply.readUnsignedByte());
        long end = reply.readLong();
        long highWatermark = reply.readLong();
        if (status != BookieStatus.OK) {
            return new ReadReply(status, Unpooled.EMPTY_BUFFER, end, highWatermark);
        }
        if (!EntriesCheck.isSound(reply.nioBuffer(), fromOffset)) {
            LOG.error("event=read-unsound bookie={} segment={} fromOffset={}", bookie, segment, fromOffset);
            return new ReadReply(BookieStatus.CORRUPT, Unpooled.EMPTY_BUFFER, end, highWatermark);
        }
        return new ReadReply(status, reply.retainedSlice(), end, highWatermark);
    }

    private static FenceReply toFenceReply(StorageCodec.ReplicaState state) {
        return new FenceReply(
                BookieStatus.ofCode(state.status()),
                state.end(),
                state.highWatermark(),
                state.incarnation(),
                state.sealed(),
                state.fenceEpoch());
    }

    private static FenceReply noReplica(BookieStatus status) {
        return new FenceReply(status, -1, -1, 0, false, -1);
    }
}
