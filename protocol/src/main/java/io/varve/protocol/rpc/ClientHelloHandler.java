package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Says the client's hello, checks who answers, and makes way for the {@link ClientLink}. */
final class ClientHelloHandler extends ByteToMessageDecoder {

    private final ClientConnection connection;
    private final RpcClientOptions options;
    private final RpcIdentity self;
    private Future<?> timeout;
    private boolean over;

    ClientHelloHandler(ClientConnection connection, RpcClientOptions options) {
        this.connection = connection;
        this.options = options;
        this.self = options.identity().get();
    }

    @Override
    public void channelActive(ChannelHandlerContext ctx) throws Exception {
        RpcTarget wanted = connection.wanted();
        ByteBuf hello = ctx.alloc().buffer();
        new Hello.Offer(Hello.VERSION_MIN, Hello.VERSION_MAX, self, wanted.role(), wanted.nodeId()).writeTo(hello);
        ctx.writeAndFlush(hello, ctx.voidPromise());
        timeout = ctx.channel()
                .eventLoop()
                .schedule(
                        () -> fail(ctx, RpcStatus.NOT_SENT, "no hello in time"),
                        options.bounds().connectMsMax(),
                        TimeUnit.MILLISECONDS);
        super.channelActive(ctx);
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext ctx) {
        cancelTimeout();
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (over) {
            in.skipBytes(in.readableBytes());
            return;
        }
        if (in.readableBytes() < Hello.PREFIX_BYTES) {
            return;
        }
        int at = in.readerIndex();
        int length = in.getUnsignedShort(at + Integer.BYTES);
        if (in.getInt(at) != Hello.MAGIC || length > Hello.LENGTH_MAX) {
            in.skipBytes(in.readableBytes());
            fail(ctx, RpcStatus.UNSUPPORTED, "what answers there is no Varve node");
            return;
        }
        if (in.readableBytes() < Hello.PREFIX_BYTES + length) {
            return;
        }
        in.skipBytes(Hello.PREFIX_BYTES);
        Hello.Answer answer;
        try {
            answer = Hello.Answer.read(in.readSlice(length));
        } catch (IndexOutOfBoundsException cutShort) {
            fail(ctx, RpcStatus.UNSUPPORTED, "its hello is cut short");
            return;
        }
        onAnswer(ctx, answer);
    }

    private void onAnswer(ChannelHandlerContext ctx, Hello.Answer answer) {
        RpcTarget wanted = connection.wanted();
        if (answer.code() != 0) {
            fail(ctx, RpcStatus.ofCode(answer.code()), answer.message());
        } else if (answer.version() < Hello.VERSION_MIN || answer.version() > Hello.VERSION_MAX) {
            fail(ctx, RpcStatus.UNSUPPORTED, "it picked version " + answer.version() + ", which was not offered");
        } else if (wanted.role() != RpcRole.ANY && answer.self().role() != wanted.role()
                || wanted.nodeId() != RpcIdentity.NO_NODE && answer.self().nodeId() != wanted.nodeId()) {
            fail(ctx, RpcStatus.REFUSED, "it is " + answer.self());
        } else if (!Hello.fits(self.clusterId(), answer.self().clusterId())) {
            fail(ctx, RpcStatus.REFUSED, "it is of cluster " + answer.self().clusterId());
        } else {
            over = true;
            ClientLink link = new ClientLink(connection, options);
            // The connection must be ready before the frames that came with the hello are read.
            ctx.pipeline().addAfter(ctx.name(), "link", link);
            connection.onHello(link, answer.self());
            ctx.pipeline().remove(this);
        }
    }

    private void fail(ChannelHandlerContext ctx, RpcStatus status, String reason) {
        if (!over) {
            over = true;
            cancelTimeout();
            ctx.close();
            connection.onAttemptFailed(status, reason);
        }
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        super.channelInactive(ctx);
        fail(ctx, RpcStatus.NOT_SENT, "it closed the connection without a hello");
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        fail(ctx, RpcStatus.NOT_SENT, String.valueOf(cause.getMessage()));
    }

    private void cancelTimeout() {
        if (timeout != null) {
            timeout.cancel(false);
        }
    }
}
