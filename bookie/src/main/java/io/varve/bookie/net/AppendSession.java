package io.varve.bookie.net;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufAllocator;
import io.varve.base.SegmentId;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.store.SegmentStore.AppendCallback;
import io.varve.protocol.rpc.RpcServerStream;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcStreamHandler;
import io.varve.protocol.storage.AppendFrames;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * One owner's append stream at the bookie. Its state belongs to the connection's event loop; the store's answers come on the store's threads and
 * are folded into the highest durable end, so that a group of appends costs one acknowledgement however many it had.
 *
 * <p>An entry's bytes count against the connection's bounds until the store has answered it, which is what holds back an owner whose bookie is slow.
 */
final class AppendSession implements RpcStreamHandler, AppendCallback {

    private static final long NO_END = -1;

    private final RpcServerStream stream;
    private final SegmentStore store;
    private final NetMetrics metrics;
    private final BooleanSupplier draining;
    private final PendingEntries pending = new PendingEntries();
    private final AtomicLong durableEnd = new AtomicLong(NO_END);
    private final AtomicBoolean acknowledgementDue = new AtomicBoolean();
    private SegmentId segment;
    private int epoch;
    private boolean leaving;
    private boolean over;

    /** @param draining whether the bookie is about to stop: what is in work is acknowledged, and then the owner is sent elsewhere */
    AppendSession(RpcServerStream stream, SegmentStore store, NetMetrics metrics, BooleanSupplier draining) {
        this.stream = stream;
        this.store = store;
        this.metrics = metrics;
        this.draining = draining;
        metrics.streamOpened();
    }

    @Override
    public void onMessage(ByteBuf body) {
        int bytes = body.readableBytes();
        int type = AppendFrames.type(body);
        if (over || leaving) {
            stream.consumed(bytes);
        } else if (draining.getAsBoolean()) {
            stream.consumed(bytes);
            leaving = true;
            leaveWhenAnswered();
        } else if (type == AppendFrames.APPEND && segment != null && AppendFrames.isWholeAppend(body)) {
            onAppend(body, bytes);
        } else {
            stream.consumed(bytes);
            onOther(type, body);
        }
    }

    private void onAppend(ByteBuf body, int bytes) {
        long lastOffset = AppendFrames.lastOffset(body);
        pending.add(lastOffset + 1, bytes);
        store.append(
                segment,
                epoch,
                AppendFrames.firstOffset(body),
                lastOffset,
                AppendFrames.crc(body),
                AppendFrames.payload(body).retain(),
                AppendFrames.highWatermark(body),
                this);
    }

    private void onOther(int type, ByteBuf body) {
        try {
            switch (type) {
                case AppendFrames.OPEN -> onOpen(AppendFrames.readOpen(body));
                case AppendFrames.CHECKPOINT -> onCheckpoint(body);
                case AppendFrames.SEAL -> onSeal(AppendFrames.offset(body));
                default -> refuse(BookieStatus.INVALID, NO_END);
            }
        } catch (IndexOutOfBoundsException | IllegalArgumentException malformed) {
            metrics.malformed();
            refuse(BookieStatus.INVALID, NO_END);
        }
    }

    private void onOpen(AppendFrames.Open open) {
        if (segment != null) {
            refuse(BookieStatus.INVALID, NO_END);
            return;
        }
        segment = open.segment();
        epoch = open.epoch();
        store.createSegment(
                open.partition(),
                open.segment(),
                open.epoch(),
                open.startOffset(),
                open.incarnation(),
                (status, end, incarnation) -> {
                    if (status != BookieStatus.OK) {
                        stream.execute(() -> refuse(status, end));
                    }
                });
    }

    private void onCheckpoint(ByteBuf body) {
        if (segment == null) {
            refuse(BookieStatus.INVALID, NO_END);
            return;
        }
        store.checkpoint(
                segment,
                epoch,
                AppendFrames.offset(body),
                AppendFrames.state(body).retain());
    }

    private void onSeal(long endOffset) {
        if (segment == null) {
            refuse(BookieStatus.INVALID, NO_END);
            return;
        }
        store.seal(segment, epoch, endOffset).thenAccept(status -> {
            if (status != BookieStatus.OK) {
                stream.execute(() -> refuse(status, NO_END));
            }
        });
    }

    /** The store's answer to one append, or to all of a group that are durable. Any thread. */
    @Override
    public void onAppended(BookieStatus status, long end) {
        if (status == BookieStatus.OK) {
            durableEnd.accumulateAndGet(end, Math::max);
            if (acknowledgementDue.compareAndSet(false, true)) {
                stream.execute(this::acknowledge);
            }
        } else {
            stream.execute(() -> {
                // Behind a refused entry all are refused, and those before it may still become durable: what is refused
                // is the end of what was handed in.
                stream.consumed(pending.removeLast());
                refuse(status, end);
            });
        }
    }

    private void acknowledge() {
        acknowledgementDue.set(false);
        long end = durableEnd.get();
        stream.consumed(pending.removeBelow(end));
        if (!over) {
            ByteBuf message = ByteBufAllocator.DEFAULT.buffer(AppendFrames.DURABLE_BYTES);
            AppendFrames.writeDurable(message, end);
            stream.send(message);
        }
        leaveWhenAnswered();
    }

    private void leaveWhenAnswered() {
        if (leaving && pending.isEmpty()) {
            refuse(BookieStatus.READ_ONLY, durableEnd.get());
        }
    }

    private void refuse(BookieStatus status, long end) {
        if (over) {
            return;
        }
        over = true;
        metrics.streamClosed();
        metrics.refused(status);
        ByteBuf message = ByteBufAllocator.DEFAULT.buffer(AppendFrames.FAILED_BYTES);
        AppendFrames.writeFailed(message, status.code(), end);
        stream.send(message);
        stream.end(RpcStatus.ENDED, status.name());
    }

    @Override
    public void onEnd(RpcStatus status, String message) {
        if (!over) {
            over = true;
            metrics.streamClosed();
        }
    }
}
