package io.varve.protocol.rpc;

import io.netty.buffer.ByteBuf;
import io.netty.channel.ChannelHandlerContext;
import io.netty.util.collection.LongObjectHashMap;
import io.varve.protocol.rpc.RpcServer.ServerContext;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One connection at the server. Reading stops while more is in work than the bounds allow, on this connection or on all, or while the peer does
 * not take its answers; TCP then carries the pressure back. What was already received is still handed to the service.
 */
final class ServerLink extends Link implements RpcPeer {

    private static final Logger LOG = LoggerFactory.getLogger(ServerLink.class);

    /** Bytes that a connection may have in work even when the budget of all connections is used up. */
    private static final long SHARE_BYTES_MIN = 64 * 1024;

    /** More streams than any broker has segments open on one bookie. */
    private static final int STREAMS_MAX = 200_000;

    private final ServerContext context;
    private final RpcIdentity identity;
    private final int version;
    private final AtomicInteger inFlight = new AtomicInteger();
    private final AtomicLong inFlightBytes = new AtomicLong();
    private final AtomicBoolean resumeDue = new AtomicBoolean();
    private final LongObjectHashMap<ServerStream> streams = new LongObjectHashMap<>();
    private final ArrayDeque<Runnable> whenWritable = new ArrayDeque<>();
    private volatile boolean paused;
    private volatile boolean closed;
    private boolean waitingForBudget;
    private String remoteAddress = "";

    ServerLink(ServerContext context, RpcIdentity identity, int version) {
        super(context.options.bounds(), context.options.clock());
        this.context = context;
        this.identity = identity;
        this.version = version;
    }

    @Override
    public RpcIdentity identity() {
        return identity;
    }

    @Override
    public int version() {
        return version;
    }

    @Override
    public String remoteAddress() {
        return remoteAddress;
    }

    @Override
    public boolean isWritable() {
        return channel().isWritable();
    }

    @Override
    public void whenWritable(Runnable task) {
        run(() -> {
            whenWritable.add(task);
            if (closed || isWritable()) {
                // Not at once: the task may ask again.
                channel().eventLoop().execute(this::onWritable);
            }
        });
    }

    @Override
    public boolean execute(Runnable task) {
        return run(task);
    }

    private void onWritable() {
        for (int due = whenWritable.size(); due > 0 && (closed || isWritable()); due--) {
            guarded("whenWritable", whenWritable.poll());
        }
    }

    @Override
    public void disconnect(String reason) {
        run(() -> finish(reason));
    }

    void announceClosing(String reason) {
        run(() -> sendText(Frame.CLOSING, 0, 0, reason));
    }

    @Override
    public String toString() {
        return identity + " from " + remoteAddress;
    }

    @Override
    long tickMs() {
        return bounds().aliveMs();
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) throws Exception {
        super.handlerAdded(ctx);
        remoteAddress = String.valueOf(ctx.channel().remoteAddress());
        context.connections.add(this);
        LOG.debug("event=peer-connected peer=\"{}\"", this);
        guarded("onConnected", () -> context.service.onConnected(this));
        if (context.closing) {
            breakOff("this node stops");
        }
    }

    @Override
    void onFrame(int kind, int code, long correlation, int timeoutMs, ByteBuf body) {
        switch (kind) {
            case Frame.REQUEST -> onRequest(code, correlation, timeoutMs, body);
            case Frame.STREAM_OPEN -> onStreamOpen(code, correlation);
            case Frame.STREAM_MESSAGE -> onStreamMessage(correlation, body);
            case Frame.STREAM_END -> onStreamEnd(code, correlation, body);
            default -> {
                // ALIVE was heard by arriving; later kinds are not for us.
            }
        }
    }

    private void onRequest(int method, long correlation, int timeoutMs, ByteBuf body) {
        int bytes = body.readableBytes();
        take(1, bytes);
        long deadline = clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(Math.max(0, timeoutMs));
        ServerRequest request = new ServerRequest(this, method, correlation, deadline, body, bytes);
        if (!guarded("onRequest", () -> context.service.onRequest(request))) {
            request.fail(RpcStatus.INTERNAL, "the service failed");
        }
    }

    private void onStreamOpen(int method, long correlation) {
        if (streams.size() >= STREAMS_MAX) {
            sendText(Frame.STREAM_END, RpcStatus.OVERLOADED.code(), correlation, "too many streams");
            return;
        }
        ServerStream stream = new ServerStream(this, method, correlation);
        if (streams.put(correlation, stream) != null) {
            breakOff("the other side opened stream " + correlation + " twice");
            return;
        }
        if (!guarded("onStream", () -> stream.handler = context.service.onStream(stream))) {
            stream.end(RpcStatus.INTERNAL, "the service failed");
        }
    }

    private void onStreamMessage(long correlation, ByteBuf body) {
        ServerStream stream = streams.get(correlation);
        if (stream == null) {
            return; // Sent before the other side learned that the stream has ended.
        }
        take(0, body.readableBytes());
        if (!guarded("onMessage", () -> stream.handler.onMessage(body))) {
            stream.end(RpcStatus.INTERNAL, "the service failed");
        }
    }

    private void onStreamEnd(int code, long correlation, ByteBuf body) {
        ServerStream stream = streams.remove(correlation);
        if (stream != null) {
            String message = text(body);
            guarded("onEnd", () -> stream.handler.onEnd(RpcStatus.ofCode(code), message));
        }
    }

    /** Forgets a stream that the service ended; false if it was over already. Event loop. */
    boolean removeStream(ServerStream stream) {
        return streams.remove(stream.correlation) != null;
    }

    private void take(int calls, int bytes) {
        inFlight.addAndGet(calls);
        inFlightBytes.addAndGet(bytes);
        context.budget.take(bytes);
        reconsiderReading();
    }

    /** The service is done with so much. Any thread. */
    void giveBack(int calls, int bytes) {
        int callsLeft = inFlight.addAndGet(-calls);
        long bytesLeft = inFlightBytes.addAndGet(-bytes);
        context.budget.giveBack(bytes);
        if (paused
                && callsLeft <= bounds().inFlightMax() / 2
                && bytesLeft <= bounds().inFlightBytesMax() / 2
                && resumeDue.compareAndSet(false, true)) {
            run(() -> {
                resumeDue.set(false);
                reconsiderReading();
            });
        }
    }

    /** Stops or goes on reading as the bounds say. Event loop. */
    private void reconsiderReading() {
        if (closed) {
            return;
        }
        // A connection with hardly anything in work is let through: what it brings may be a fence that must not wait
        // for others' appends.
        boolean sharedUsedUp = inFlightBytes.get() > SHARE_BYTES_MIN && context.budget.isUsedUp();
        boolean full = inFlight.get() > bounds().inFlightMax()
                || inFlightBytes.get() > bounds().inFlightBytesMax()
                || !channel().isWritable()
                || sharedUsedUp;
        if (full && sharedUsedUp && !waitingForBudget) {
            waitingForBudget = true;
            context.budget.whenFree(() -> run(() -> {
                waitingForBudget = false;
                reconsiderReading();
            }));
        }
        if (full && !paused) {
            paused = true;
            channel().config().setAutoRead(false);
            // What was given back between the look and the pause woke nobody.
            channel().eventLoop().execute(this::reconsiderReading);
        } else if (!full && paused) {
            paused = false;
            channel().config().setAutoRead(true);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) throws Exception {
        reconsiderReading();
        if (ctx.channel().isWritable()) {
            onWritable();
            for (ServerStream stream : streams.values()) {
                guarded("onWritable", () -> stream.handler.onWritable());
            }
        }
        super.channelWritabilityChanged(ctx);
    }

    @Override
    void onClosed(String reason) {
        closed = true;
        for (ServerStream stream : streams.values()) {
            guarded("onEnd", () -> stream.handler.onEnd(RpcStatus.NO_ANSWER, reason));
        }
        streams.clear();
        onWritable();
        context.connections.remove(this);
        LOG.debug("event=peer-disconnected peer=\"{}\" reason=\"{}\"", this, reason);
        guarded("onDisconnected", () -> context.service.onDisconnected(this));
    }

    /** Calls the service; false if it threw. */
    private boolean guarded(String where, Runnable call) {
        try {
            call.run();
            return true;
        } catch (RuntimeException e) {
            LOG.error("event=service-failed where={} peer=\"{}\"", where, this, e);
            return false;
        } catch (Error e) {
            context.options.faults().onFault("rpc service " + where, e);
            breakOff("the service failed");
            return false;
        }
    }
}
