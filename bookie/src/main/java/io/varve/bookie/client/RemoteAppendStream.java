package io.varve.bookie.client;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.base.Clock;
import io.varve.protocol.rpc.RpcConnection;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcStream;
import io.varve.protocol.rpc.RpcStreamHandler;
import io.varve.protocol.storage.AppendFrames;
import io.varve.protocol.storage.EntryFormat;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** An append stream over the RPC. Sending is the owner's thread's; what comes back, and the end, are the event loop's. */
final class RemoteAppendStream implements AppendStream, RpcStreamHandler {

    private final AppendListener listener;
    private final Clock clock;
    private final Runnable onOver;
    private final RpcStream stream;
    private final Queue<Sent> unacknowledged = new ConcurrentLinkedQueue<>();
    private final AtomicLong pendingBytes = new AtomicLong();
    private volatile long progressNanos;
    private final AtomicBoolean over = new AtomicBoolean();
    private long durableEnd = -1;

    RemoteAppendStream(
            RpcConnection connection,
            int method,
            AppendFrames.Open open,
            AppendListener listener,
            Clock clock,
            Runnable onOver) {
        this.listener = listener;
        this.clock = clock;
        this.onOver = onOver;
        this.progressNanos = clock.nanoTime();
        this.stream = connection.openStream(method, this);
        ByteBuf head = ByteBufAllocator.DEFAULT.buffer(AppendFrames.OPEN_BYTES);
        AppendFrames.writeOpen(head, open);
        stream.send(head);
    }

    @Override
    public void append(long firstOffset, long lastOffset, int crc, ByteBuf payload, long highWatermark) {
        int payloadBytes = payload.readableBytes();
        int bytes = EntryFormat.HEADER_BYTES + payloadBytes;
        ByteBuf head = ByteBufAllocator.DEFAULT.buffer(AppendFrames.APPEND_HEAD_BYTES);
        AppendFrames.writeAppendHead(head, highWatermark, firstOffset, lastOffset, payloadBytes, crc);
        unacknowledged.add(new Sent(lastOffset + 1, bytes));
        if (pendingBytes.getAndAdd(bytes) == 0) {
            progressNanos = clock.nanoTime();
        }
        stream.send(head, payload);
    }

    @Override
    public void checkpoint(long offset, ByteBuf state) {
        ByteBuf head = ByteBufAllocator.DEFAULT.buffer(AppendFrames.CHECKPOINT_HEAD_BYTES);
        AppendFrames.writeCheckpointHead(head, offset);
        stream.send(head, state);
    }

    @Override
    public void seal(long endOffset) {
        ByteBuf message = ByteBufAllocator.DEFAULT.buffer(AppendFrames.SEAL_BYTES);
        AppendFrames.writeSeal(message, endOffset);
        stream.send(message);
    }

    @Override
    public long pendingBytes() {
        return pendingBytes.get();
    }

    @Override
    public void close() {
        if (over.compareAndSet(false, true)) {
            onOver.run();
            stream.end(RpcStatus.ENDED, "");
        }
    }

    boolean isOver() {
        return over.get();
    }

    /** Fails the stream if something waits and nothing became durable since {@code silenceNanosMax}. Any thread. */
    void checkProgress(long nowNanos, long silenceNanosMax) {
        if (pendingBytes.get() > 0 && nowNanos - progressNanos > silenceNanosMax) {
            stream.execute(() -> {
                if (pendingBytes.get() > 0 && nowNanos - progressNanos > silenceNanosMax) {
                    fail(BookieStatus.NO_ANSWER, -1);
                }
            });
        }
    }

    @Override
    public void onMessage(ByteBuf body) {
        switch (AppendFrames.type(body)) {
            case AppendFrames.DURABLE -> {
                if (body.readableBytes() < AppendFrames.DURABLE_BYTES) {
                    fail(BookieStatus.NO_ANSWER, -1);
                } else {
                    onDurable(AppendFrames.offset(body));
                }
            }
            case AppendFrames.FAILED -> {
                if (body.readableBytes() < AppendFrames.FAILED_BYTES) {
                    fail(BookieStatus.NO_ANSWER, -1);
                } else {
                    fail(BookieStatus.ofCode(AppendFrames.failedStatus(body)), AppendFrames.failedEnd(body));
                }
            }
            default -> {
                // From a later version, and not asked for.
            }
        }
    }

    private void onDurable(long end) {
        if (over.get() || end <= durableEnd) {
            return;
        }
        durableEnd = end;
        long bytes = 0;
        for (Sent next = unacknowledged.peek(); next != null && next.end() <= end; next = unacknowledged.peek()) {
            unacknowledged.poll();
            bytes += next.bytes();
        }
        progressNanos = clock.nanoTime();
        pendingBytes.addAndGet(-bytes);
        listener.onDurable(end);
    }

    @Override
    public void onEnd(RpcStatus status, String message) {
        fail(RemoteBookieClient.statusOf(status), -1);
    }

    private void fail(BookieStatus status, long end) {
        if (over.compareAndSet(false, true)) {
            onOver.run();
            stream.end(RpcStatus.ENDED, "");
            listener.onFailed(status, end);
        }
    }

    /** An entry on its way. */
    private record Sent(long end, int bytes) {}
}
