package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelFutureListener;
import io.netty.channel.ChannelHandlerContext;
import io.netty.handler.codec.ByteToMessageDecoder;
import io.varve.protocol.rpc.RpcServer.ServerContext;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits for the client's hello, answers it, and makes way for the {@link ServerLink}; whoever says something else is told what this is. */
final class ServerHelloHandler extends ByteToMessageDecoder {

    private static final Logger LOG = LoggerFactory.getLogger(ServerHelloHandler.class);

    private final ServerContext context;
    private Future<?> timeout;
    private boolean refused;

    ServerHelloHandler(ServerContext context) {
        this.context = context;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        super.handlerAdded(ctx);
        timeout = ctx.channel()
                .eventLoop()
                .schedule(() -> ctx.close(), context.options.bounds().connectMsMax(), TimeUnit.MILLISECONDS);
    }

    @Override
    protected void handlerRemoved0(ChannelHandlerContext ctx) {
        timeout.cancel(false);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        timeout.cancel(false);
        super.channelInactive(ctx);
    }

    @Override
    protected void decode(ChannelHandlerContext ctx, ByteBuf in, List<Object> out) {
        if (refused) {
            in.skipBytes(in.readableBytes());
            return;
        }
        if (in.readableBytes() < Integer.BYTES) {
            return;
        }
        int first = in.getInt(in.readerIndex());
        if (first != Hello.MAGIC) {
            in.skipBytes(in.readableBytes());
            onStranger(ctx, first);
            return;
        }
        if (in.readableBytes() < Hello.PREFIX_BYTES) {
            return;
        }
        int length = in.getUnsignedShort(in.readerIndex() + Integer.BYTES);
        if (length > Hello.LENGTH_MAX) {
            close(ctx, "hello too long bytes=" + length);
            return;
        }
        if (in.readableBytes() < Hello.PREFIX_BYTES + length) {
            return;
        }
        in.skipBytes(Hello.PREFIX_BYTES);
        onHello(ctx, in.readSlice(length));
    }

    private void onHello(ChannelHandlerContext ctx, ByteBuf body) {
        Hello.Offer offer;
        try {
            offer = Hello.Offer.read(body);
        } catch (IndexOutOfBoundsException cutShort) {
            close(ctx, "hello cut short");
            return;
        }
        Hello.Answer answer = Hello.answer(offer, context.options.identity().get());
        if (answer.code() == 0
                && (context.closing
                        || context.connections.size()
                                >= context.options.bounds().connectionsMax())) {
            answer = new Hello.Answer(
                    (context.closing ? RpcStatus.UNAVAILABLE : RpcStatus.OVERLOADED).code(),
                    Hello.VERSION_MAX,
                    answer.self(),
                    context.closing ? "this node stops" : "too many connections");
        }
        ByteBuf bytes = ctx.alloc().buffer();
        answer.writeTo(bytes);
        if (answer.code() != 0) {
            refused = true;
            LOG.warn(
                    "event=hello-refused remote={} caller=\"{}\" reason=\"{}\"",
                    ctx.channel().remoteAddress(),
                    offer.self(),
                    answer.message());
            ctx.writeAndFlush(bytes).addListener(ChannelFutureListener.CLOSE);
            return;
        }
        ctx.writeAndFlush(bytes, ctx.voidPromise());
        ServerLink link = new ServerLink(context, offer.self(), answer.version());
        ctx.pipeline().replace(this, "link", link);
    }

    /** Some other protocol knocked: say in its own way, or at least in words, what this is. */
    private void onStranger(ChannelHandlerContext ctx, int first) {
        refused = true;
        String us = "This is the internal port of a Varve "
                + context.options.identity().get() + ". ";
        String text = switch (first) {
            case 0x47455420, 0x504f5354, 0x48454144, 0x50555420, 0x4f505449 ->
                "HTTP/1.1 400 Bad Request\r\n" + "Content-Type: text/plain\r\nConnection: close\r\n\r\n" + us
                        + "It does not speak HTTP.\n";
            default -> us + "It speaks Varve's own protocol only; Kafka clients connect to a broker's listener.\n";
        };
        LOG.warn(
                "event=stranger-refused remote={} firstBytes=0x{}",
                ctx.channel().remoteAddress(),
                Integer.toHexString(first));
        ctx.writeAndFlush(ctx.alloc().buffer().writeBytes(text.getBytes(StandardCharsets.UTF_8)))
                .addListener(ChannelFutureListener.CLOSE);
    }

    private void close(ChannelHandlerContext ctx, String why) {
        refused = true;
        LOG.warn("event=hello-garbage remote={} reason=\"{}\"", ctx.channel().remoteAddress(), why);
        ctx.close();
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        LOG.debug("event=hello-broken remote={} reason=\"{}\"", ctx.channel().remoteAddress(), cause.getMessage());
        ctx.close();
    }
}
