package io.varve.bookie.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.base.Clock;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.store.SegmentStore;
import io.varve.protocol.rpc.RpcPeer;
import io.varve.protocol.rpc.RpcRequest;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.storage.StorageCodec;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The reads of one connection. A few are under way at a time, takeovers' first, and none begins while the peer does not take the answers it was sent: a slow
 * reader holds requests of some bytes here, and not megabytes of answers. Belongs to the connection's event loop.
 */
final class ReadQueue {

    private static final Logger LOG = LoggerFactory.getLogger(ReadQueue.class);
    private static final int UNDER_WAY_MAX = 8;

    private final RpcPeer peer;
    private final SegmentStore store;
    private final Clock clock;
    private final NetMetrics metrics;
    private final Map<ReadPriority, ArrayDeque<Waiting>> waiting = new EnumMap<>(ReadPriority.class);
    private int underWay;
    private boolean wakeDue;

    ReadQueue(RpcPeer peer, SegmentStore store, Clock clock, NetMetrics metrics) {
        this.peer = peer;
        this.store = store;
        this.clock = clock;
        this.metrics = metrics;
        for (ReadPriority priority : ReadPriority.values()) {
            waiting.put(priority, new ArrayDeque<>());
        }
    }

    /** A read has come. */
    void add(RpcRequest request, StorageCodec.Read read, ReadPriority priority) {
        waiting.get(priority).add(new Waiting(request, read));
        pump();
    }

    /** The connection is gone: nobody waits for the answers any more. */
    void close() {
        for (Waiting next = poll(); next != null; next = poll()) {
            next.request.fail(RpcStatus.UNAVAILABLE, "the connection is gone");
        }
    }

    private void pump() {
        while (underWay < UNDER_WAY_MAX && peer.isWritable()) {
            Waiting next = poll();
            if (next == null) {
                return;
            }
            if (clock.nanoTime() - next.request.deadlineNanos() > 0) {
                next.request.fail(RpcStatus.OVERLOADED, "it waited too long for its turn");
            } else {
                begin(next);
            }
        }
        if (underWay < UNDER_WAY_MAX && !wakeDue) {
            wakeDue = true;
            peer.whenWritable(() -> {
                wakeDue = false;
                pump();
            });
        }
    }

    private void begin(Waiting next) {
        underWay++;
        ReadPriority priority = priorityOf(next.read);
        store.read(next.read.segment(), next.read.fromOffset(), next.read.bytesMax(), priority)
                .whenComplete((reply, failure) -> {
                    boolean handedOver = peer.execute(() -> {
                        underWay--;
                        answer(next.request, priority, reply, failure);
                        pump();
                    });
                    if (!handedOver && reply != null) {
                        reply.entries().release();
                    }
                });
    }

    private void answer(RpcRequest request, ReadPriority priority, ReadReply reply, Throwable failure) {
        if (failure != null) {
            LOG.error("event=store-failed method=read peer=\"{}\"", peer, failure);
            request.fail(RpcStatus.INTERNAL, "the store failed");
            return;
        }
        ByteBuf head = ByteBufAllocator.DEFAULT.buffer(StorageCodec.READ_REPLY_HEAD_BYTES);
        StorageCodec.writeReadReplyHead(head, reply.status().code(), reply.end(), reply.highWatermark());
        metrics.read(priority, reply.entries().readableBytes());
        request.reply(head, reply.entries());
    }

    private Waiting poll() {
        for (ArrayDeque<Waiting> queue : waiting.values()) {
            Waiting next = queue.poll();
            if (next != null) {
                return next;
            }
        }
        return null;
    }

    /** The priority of a number on the wire; the humblest for those of a later version. */
    static ReadPriority priorityOf(StorageCodec.Read read) {
        return switch (read.priority()) {
            case 0 -> ReadPriority.RECOVERY;
            case 1 -> ReadPriority.TAIL;
            default -> ReadPriority.CATCH_UP;
        };
    }

    /** A read that waits for its turn. */
    private record Waiting(RpcRequest request, StorageCodec.Read read) {}
}
