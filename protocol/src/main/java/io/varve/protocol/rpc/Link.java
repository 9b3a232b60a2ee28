package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.varve.base.Clock;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * One connection after the hellos, at either side: writes frames and flushes them together, says a word when it has been quiet, and notices when
 * the other side has been. All of it on the channel's event loop, except {@link #run}.
 */
abstract class Link extends FrameHandler {

    private final RpcBounds bounds;
    private final Clock clock;
    private Channel channel;
    private long heardNanos;
    private long spokeNanos;
    private boolean flushDue;
    private boolean reading;
    private Future<?> ticking;
    private String end = "";

    Link(RpcBounds bounds, Clock clock) {
        super(bounds.frameBytesMax());
        this.bounds = bounds;
        this.clock = clock;
    }

    /** The connection is over. Once. */
    abstract void onClosed(String reason);

    /** A turn of the clock, about every ten milliseconds at a client and every keep-alive at a server. */
    void onTick(long nowNanos) {}

    /** How often {@link #onTick} comes. */
    abstract long tickMs();

    final Channel channel() {
        return channel;
    }

    final Clock clock() {
        return clock;
    }

    final RpcBounds bounds() {
        return bounds;
    }

    /** Runs {@code task} on the event loop, at once if this is it. False, without running it, if the loop has stopped. */
    final boolean run(Runnable task) {
        if (channel.eventLoop().inEventLoop()) {
            task.run();
            return true;
        }
        try {
            channel.eventLoop().execute(task);
            return true;
        } catch (java.util.concurrent.RejectedExecutionException stopped) {
            return false;
        }
    }

    /** Queues a frame; it leaves at the end of this turn of the loop. */
    final void send(int kind, int code, long correlation, int timeoutMs, ByteBuf... parts) {
        if (!channel.isActive()) {
            Frame.releaseAll(parts);
            return;
        }
        Frame.write(channel, kind, code, correlation, timeoutMs, parts);
        spokeNanos = clock.nanoTime();
        if (!flushDue) {
            flushDue = true;
            if (!reading) {
                channel.eventLoop().execute(this::flushIfDue);
            }
        }
    }

    /** {@link #send} of a frame whose body is a line of text. */
    final void sendText(int kind, int code, long correlation, String text) {
        send(kind, code, correlation, 0, Unpooled.wrappedBuffer(text.getBytes(StandardCharsets.UTF_8)));
    }

    /** Breaks the connection; {@link #onClosed} follows with the reason. */
    final void breakOff(String reason) {
        if (end.isEmpty()) {
            end = reason;
        }
        channel.close();
    }

    /** Sends what is queued, then breaks the connection. */
    final void finish(String reason) {
        if (end.isEmpty()) {
            end = reason;
        }
        channel.writeAndFlush(Unpooled.EMPTY_BUFFER).addListener(done -> channel.close());
    }

    private void flushIfDue() {
        if (flushDue) {
            flushDue = false;
            channel.flush();
        }
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        super.handlerAdded(ctx);
        channel = ctx.channel();
        heardNanos = clock.nanoTime();
        spokeNanos = heardNanos;
        ticking = channel.eventLoop().scheduleWithFixedDelay(this::tick, tickMs(), tickMs(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void channelRead(ChannelHandlerContext ctx, Object message) throws Exception {
        heardNanos = clock.nanoTime();
        reading = true;
        super.channelRead(ctx, message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext ctx) throws Exception {
        reading = false;
        flushIfDue();
        super.channelReadComplete(ctx);
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) throws Exception {
        ticking.cancel(false);
        super.channelInactive(ctx);
        onClosed(end.isEmpty() ? "the connection was closed by the other side" : end);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        breakOff("the connection broke: " + cause.getMessage());
    }

    @Override
    final void onGarbage(String what) {
        breakOff("the other side sent " + what);
    }

    static String text(ByteBuf body) {
        return body.toString(StandardCharsets.UTF_8);
    }

    private void tick() {
        long now = clock.nanoTime();
        // What we do not read says nothing about the other side.
        if (!channel.config().isAutoRead()) {
            heardNanos = now;
        } else if (now - heardNanos > TimeUnit.MILLISECONDS.toNanos(bounds.silentMsMax())) {
            breakOff("nothing was heard for " + bounds.silentMsMax() + " ms");
            return;
        }
        if (now - spokeNanos >= TimeUnit.MILLISECONDS.toNanos(bounds.aliveMs())) {
            send(Frame.ALIVE, 0, 0, 0);
        }
        onTick(now);
    }
}
