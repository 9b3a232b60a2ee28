package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import java.util.concurrent.atomic.AtomicBoolean;

/** One call in work at the server. */
final class ServerRequest implements RpcRequest {

    private final ServerLink link;
    private final int method;
    private final long correlation;
    private final long deadlineNanos;
    private final ByteBuf body;
    private final int bytes;
    private final AtomicBoolean answered = new AtomicBoolean();

    ServerRequest(ServerLink link, int method, long correlation, long deadlineNanos, ByteBuf body, int bytes) {
        this.link = link;
        this.method = method;
        this.correlation = correlation;
        this.deadlineNanos = deadlineNanos;
        this.body = body;
        this.bytes = bytes;
    }

    @Override
    public int method() {
        return method;
    }

    @Override
    public ByteBuf body() {
        return body;
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    @Override
    public RpcPeer peer() {
        return link;
    }

    @Override
    public void reply(ByteBuf... parts) {
        if (!answered.compareAndSet(false, true)) {
            Frame.releaseAll(parts);
            return;
        }
        if (Frame.bytesOf(parts) > link.bounds().frameBytesMax() - Frame.HEADER_BYTES) {
            Frame.releaseAll(parts);
            sendFailure(RpcStatus.INTERNAL, "the reply is too long");
        } else if (!link.run(() -> link.send(Frame.REPLY, 0, correlation, 0, parts))) {
            Frame.releaseAll(parts);
        }
        link.giveBack(1, bytes);
    }

    @Override
    public void fail(RpcStatus status, String message) {
        if (answered.compareAndSet(false, true)) {
            sendFailure(status, message);
            link.giveBack(1, bytes);
        }
    }

    private void sendFailure(RpcStatus status, String message) {
        link.run(() -> link.sendText(Frame.FAIL, status.code(), correlation, message));
    }
}
