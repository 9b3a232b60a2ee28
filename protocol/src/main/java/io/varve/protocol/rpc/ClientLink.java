package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;

/** One connection at the client, after the hellos. */
final class ClientLink extends Link {

    private final ClientConnection connection;

    ClientLink(ClientConnection connection, RpcClientOptions options) {
        super(options.bounds(), options.clock());
        this.connection = connection;
    }

    @Override
    long tickMs() {
        return bounds().aliveMs();
    }

    @Override
    void onFrame(int kind, int code, long correlation, int timeoutMs, ByteBuf body) {
        switch (kind) {
            case Frame.REPLY -> connection.onReply(correlation, body);
            case Frame.FAIL -> connection.onFail(correlation, code, text(body));
            case Frame.STREAM_MESSAGE -> connection.onStreamMessage(correlation, body);
            case Frame.STREAM_END -> connection.onStreamEnd(correlation, code, text(body));
            case Frame.CLOSING -> connection.onClosing(text(body));
            default -> {
                // ALIVE was heard by arriving; later kinds are not for us.
            }
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        if (ctx.channel().isWritable()) {
            connection.onWritable();
        }
        super.channelWritabilityChanged(ctx);
    }

    @Override
    void onClosed(String reason) {
        connection.onLinkClosed(this, reason);
    }
}
