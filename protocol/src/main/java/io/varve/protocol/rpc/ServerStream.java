package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;

/** A stream's end at the server. */
final class ServerStream implements RpcServerStream {

    final long correlation;
    RpcStreamHandler handler = RpcStreamHandler.DEAF;

    private final ServerLink link;
    private final int method;
    private volatile boolean over;

    ServerStream(ServerLink link, int method, long correlation) {
        this.link = link;
        this.method = method;
        this.correlation = correlation;
    }

    @Override
    public int method() {
        return method;
    }

    @Override
    public RpcPeer peer() {
        return link;
    }

    @Override
    public void consumed(int bytes) {
        link.giveBack(0, bytes);
    }

    @Override
    public void execute(Runnable task) {
        link.run(task);
    }

    @Override
    public void send(ByteBuf... parts) {
        if (over || !link.run(() -> link.send(Frame.STREAM_MESSAGE, 0, correlation, 0, parts))) {
            Frame.releaseAll(parts);
        }
    }

    @Override
    public void end(RpcStatus status, String message) {
        over = true;
        link.run(() -> {
            if (link.removeStream(this)) {
                link.sendText(Frame.STREAM_END, status.code(), correlation, message);
            }
        });
    }

    @Override
    public boolean isWritable() {
        return link.channel().isWritable();
    }
}
