package io.varve.protocol.rpc;

import io.netty.bootstrap.Bootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.Channel;
import io.netty.channel.ChannelFuture;
import io.netty.channel.ChannelInitializer;
import io.netty.channel.ChannelOption;
import io.netty.channel.EventLoop;
import io.netty.util.collection.LongObjectHashMap;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client's side of {@link RpcConnection}. Its state belongs to one event loop, which also runs every channel it makes; other threads hand
 * in what they want as tasks, which keeps each caller's order.
 *
 * <p>What is begun while there is no connection waits in {@link #waiting}, and is sent, in order, when the hellos are through, or failed as
 * NOT_SENT when the attempt fails. What was sent and has no answer when the connection ends is failed as NO_ANSWER.
 */
final class ClientConnection implements RpcConnection {

    private static final Logger LOG = LoggerFactory.getLogger(ClientConnection.class);
    private static final long SWEEP_MS = 10;

    private final RpcClientOptions options;
    private final RpcTarget target;
    private final Listener listener;
    private final Consumer<ClientConnection> onClosed;
    private final EventLoop loop;
    private final Backoff backoff;
    private final AtomicInteger callsInFlight = new AtomicInteger();
    private final AtomicLong bytesInFlight = new AtomicLong();

    private final LongObjectHashMap<Call> calls = new LongObjectHashMap<>();
    private final LongObjectHashMap<ClientStream> streams = new LongObjectHashMap<>();
    private final ArrayDeque<Pending> waiting = new ArrayDeque<>();
    private volatile ClientLink link;
    private Channel connecting;
    private long nextCorrelation = 1;
    private Future<?> sweep;
    private Future<?> reconnect;
    private volatile State state = State.CONNECTING;
    private volatile RpcIdentity peer;
    private String lastReason = "";
    private RpcStatus lastFailure = RpcStatus.NOT_SENT;

    ClientConnection(
            RpcClientOptions options, RpcTarget target, Listener listener, Consumer<ClientConnection> onClosed) {
        this.options = options;
        this.target = target;
        this.listener = listener;
        this.onClosed = onClosed;
        this.loop = options.loops().group().next();
        this.backoff =
                new Backoff(options.bounds().backoffMsMin(), options.bounds().backoffMsMax(), options.randomness());
    }

    void start() {
        run(this::connect);
    }

    @Override
    public RpcTarget target() {
        return target;
    }

    @Override
    public State state() {
        return state;
    }

    @Override
    public Optional<RpcIdentity> peer() {
        return Optional.ofNullable(peer);
    }

    @Override
    public CompletableFuture<ByteBuf> call(int method, ByteBuf body, long timeoutMs) {
        int bytes = body.readableBytes();
        Call call = new Call(
                method, bytes, timeoutMs, options.clock().nanoTime() + TimeUnit.MILLISECONDS.toNanos(timeoutMs));
        int callsNow = callsInFlight.incrementAndGet();
        long bytesNow = bytesInFlight.addAndGet(bytes);
        boolean tooLong = bytes > options.bounds().frameBytesMax() - Frame.HEADER_BYTES;
        if (tooLong) {
            body.release();
            settle(call, RpcStatus.INVALID, "a request of " + bytes + " bytes is too long");
        } else if (callsNow > options.bounds().inFlightMax()
                || bytesNow > options.bounds().inFlightBytesMax() && bytesNow > bytes) {
            body.release();
            settle(call, RpcStatus.OVERLOADED, "too much is under way to " + target);
        } else if (!run(() -> begin(call, body))) {
            body.release();
            settle(call, RpcStatus.NOT_SENT, "the client is closed");
        }
        return call.reply;
    }

    @Override
    public RpcStream openStream(int method, RpcStreamHandler handler) {
        ClientStream stream = new ClientStream(this, handler);
        if (!run(() -> begin(stream, method))) {
            handler.onEnd(RpcStatus.NOT_SENT, "the client is closed");
        }
        return stream;
    }

    @Override
    public void close() {
        run(() -> {
            if (state == State.CLOSED) {
                return;
            }
            become(State.CLOSED, "");
            cancel(reconnect);
            cancel(sweep);
            lastFailure = RpcStatus.NOT_SENT;
            lastReason = "the connection was closed by its user";
            failAll(lastReason);
            if (link != null) {
                link.breakOff(lastReason);
            }
            if (connecting != null) {
                connecting.close();
            }
            onClosed.accept(this);
        });
    }

    @Override
    public String toString() {
        return target.toString();
    }

    boolean run(Runnable task) {
        if (loop.inEventLoop()) {
            task.run();
            return true;
        }
        try {
            loop.execute(task);
            return true;
        } catch (RejectedExecutionException stopped) {
            return false;
        }
    }

    boolean isWritable() {
        ClientLink now = link;
        return now == null || now.channel().isWritable();
    }

    // ---- everything below on the event loop ----

    private void begin(Call call, ByteBuf body) {
        call.correlation = nextCorrelation++;
        calls.put(call.correlation, call);
        if (sweep == null) {
            sweep = loop.scheduleWithFixedDelay(this::expire, SWEEP_MS, SWEEP_MS, TimeUnit.MILLISECONDS);
        }
        if (mayOvertakeNobody()) {
            transmit(call, body);
        } else {
            sendOrWait(new Pending(() -> transmit(call, body), body::release));
        }
    }

    private void transmit(Call call, ByteBuf body) {
        if (calls.get(call.correlation) != call) {
            body.release(); // Its time ran out while it waited.
            return;
        }
        if (isClogged()) {
            body.release();
            calls.remove(call.correlation);
            settle(call, RpcStatus.OVERLOADED, target + " does not take what was sent before");
            return;
        }
        call.sent = true;
        long leftMs = TimeUnit.NANOSECONDS.toMillis(
                call.deadlineNanos - options.clock().nanoTime());
        link.send(
                Frame.REQUEST,
                call.method,
                call.correlation,
                (int) Math.max(1, Math.min(Integer.MAX_VALUE, leftMs)),
                body);
    }

    /** Calls that time out give their place to others while their bytes still wait to leave: that must not go on for ever. */
    private boolean isClogged() {
        return link.channel().bytesBeforeWritable() > options.bounds().inFlightBytesMax();
    }

    private void begin(ClientStream stream, int method) {
        stream.correlation = nextCorrelation++;
        streams.put(stream.correlation, stream);
        sendOrWait(new Pending(
                () -> {
                    stream.sent = true;
                    link.send(Frame.STREAM_OPEN, method, stream.correlation, 0);
                },
                () -> {}));
    }

    void send(ClientStream stream, ByteBuf... parts) {
        if (streams.get(stream.correlation) != stream) {
            Frame.releaseAll(parts);
            return;
        }
        if (mayOvertakeNobody()) {
            link.send(Frame.STREAM_MESSAGE, 0, stream.correlation, 0, parts);
            return;
        }
        sendOrWait(new Pending(
                () -> link.send(Frame.STREAM_MESSAGE, 0, stream.correlation, 0, parts), () -> Frame.releaseAll(parts)));
    }

    void end(ClientStream stream, RpcStatus status, String message) {
        if (streams.get(stream.correlation) != stream) {
            return;
        }
        streams.remove(stream.correlation);
        sendOrWait(new Pending(
                () -> link.sendText(Frame.STREAM_END, status.code(), stream.correlation, message), () -> {}));
    }

    /** While what waited is being sent, what a callback sends goes behind it. */
    private boolean mayOvertakeNobody() {
        return state == State.READY && waiting.isEmpty();
    }

    private void sendOrWait(Pending pending) {
        if (mayOvertakeNobody()) {
            pending.send.run();
        } else if (state == State.CLOSED) {
            pending.drop.run();
            failAll(lastReason);
        } else {
            waiting.add(pending);
        }
    }

    private void connect() {
        if (state == State.CLOSED) {
            return;
        }
        become(State.CONNECTING, "");
        ChannelFuture attempt = new Bootstrap()
                .group(loop)
                .channel(options.loops().channelType())
                .option(ChannelOption.TCP_NODELAY, true)
                .option(ChannelOption.WRITE_BUFFER_WATER_MARK, RpcLoops.writeMarks())
                .option(ChannelOption.RECVBUF_ALLOCATOR, RpcLoops.receiveBuffers())
                .option(ChannelOption.CONNECT_TIMEOUT_MILLIS, options.bounds().connectMsMax())
                .handler(new ChannelInitializer<>() {
                    @Override
                    protected void initChannel(Channel channel) {
                        channel.pipeline().addLast(new ClientHelloHandler(ClientConnection.this, options));
                    }
                })
                .connect(target.host(), target.port());
        connecting = attempt.channel();
        attempt.addListener(done -> {
            if (!done.isSuccess()) {
                onAttemptFailed(RpcStatus.NOT_SENT, String.valueOf(done.cause().getMessage()));
            }
        });
    }

    RpcTarget wanted() {
        return target;
    }

    void onHello(ClientLink made, RpcIdentity who) {
        if (state == State.CLOSED) {
            made.breakOff(lastReason);
            return;
        }
        connecting = null;
        link = made;
        peer = who;
        backoff.reset();
        become(State.READY, "");
        for (Pending due = waiting.poll(); due != null && state == State.READY; due = waiting.poll()) {
            due.send.run();
        }
    }

    void onAttemptFailed(RpcStatus failure, String reason) {
        connecting = null;
        if (state != State.CONNECTING) {
            return;
        }
        lost(failure, "can't reach " + target + ": " + reason);
    }

    void onLinkClosed(ClientLink closed, String reason) {
        if (link == closed) {
            link = null;
            peer = null;
            if (state != State.CLOSED) {
                lost(RpcStatus.NOT_SENT, "lost " + target + ": " + reason);
            }
        }
    }

    private void lost(RpcStatus failure, String reason) {
        if (!reason.equals(lastReason)) {
            LOG.info("event=rpc-disconnected target=\"{}\" reason=\"{}\"", target, reason);
        }
        lastFailure = failure;
        lastReason = reason;
        long waitMs = backoff.nextMs();
        reconnect = loop.schedule(this::connect, waitMs, TimeUnit.MILLISECONDS);
        become(State.WAITING, reason);
        failAll(reason);
    }

    private void become(State next, String reason) {
        if (state != next) {
            state = next;
            if (next == State.READY) {
                lastReason = "";
                LOG.debug("event=rpc-connected target=\"{}\"", target);
            }
            guarded("onState", () -> listener.onState(this, next, reason));
        }
    }

    /** Fails all that is under way or waiting. What callers begin anew meanwhile comes after. */
    private void failAll(String reason) {
        List<Call> failedCalls = new ArrayList<>(calls.values());
        calls.clear();
        List<ClientStream> failedStreams = new ArrayList<>(streams.values());
        streams.clear();
        List<Pending> dropped = new ArrayList<>(waiting);
        waiting.clear();
        dropped.forEach(pending -> pending.drop.run());
        for (Call call : failedCalls) {
            settle(call, call.sent ? RpcStatus.NO_ANSWER : lastFailure, reason);
        }
        for (ClientStream stream : failedStreams) {
            RpcStatus status = stream.sent ? RpcStatus.NO_ANSWER : lastFailure;
            guarded("onEnd", () -> stream.onEnd(status, reason));
        }
    }

    private void expire() {
        if (calls.isEmpty()) {
            cancel(sweep);
            sweep = null;
            return;
        }
        long now = options.clock().nanoTime();
        List<Call> expired = null;
        for (Call call : calls.values()) {
            if (now - call.deadlineNanos >= 0) {
                expired = expired == null ? new ArrayList<>() : expired;
                expired.add(call);
            }
        }
        if (expired == null) {
            return;
        }
        for (Call call : expired) {
            calls.remove(call.correlation);
            settle(
                    call,
                    call.sent ? RpcStatus.NO_ANSWER : RpcStatus.NOT_SENT,
                    "no answer from " + target + " within " + call.timeoutMs + " ms");
        }
    }

    void onReply(long correlation, ByteBuf body) {
        Call call = calls.remove(correlation);
        if (call == null) {
            return; // It came too late.
        }
        giveBack(call);
        ByteBuf kept = body.isReadable() ? body.retain() : Unpooled.EMPTY_BUFFER;
        if (!call.reply.complete(kept)) {
            kept.release();
        }
    }

    void onFail(long correlation, int code, String message) {
        Call call = calls.remove(correlation);
        if (call != null) {
            settle(call, RpcStatus.ofCode(code), message);
        }
    }

    void onStreamMessage(long correlation, ByteBuf body) {
        ClientStream stream = streams.get(correlation);
        if (stream != null) {
            guarded("onMessage", () -> stream.onMessage(body));
        }
    }

    void onStreamEnd(long correlation, int code, String message) {
        ClientStream stream = streams.remove(correlation);
        if (stream != null) {
            guarded("onEnd", () -> stream.onEnd(RpcStatus.ofCode(code), message));
        }
    }

    /** The peer is about to stop: what is under way may finish, and its end of the connection follows. */
    void onClosing(String reason) {
        LOG.info("event=rpc-peer-closing target=\"{}\" reason=\"{}\"", target, reason);
        guarded("onPeerClosing", () -> listener.onPeerClosing(this, reason));
    }

    void onWritable() {
        new ArrayList<>(streams.values()).forEach(stream -> guarded("onWritable", stream::onWritable));
    }

    /** Calls what belongs to the user of this connection. What it throws must not take others' calls and streams along unseen. */
    private void guarded(String where, Runnable call) {
        try {
            call.run();
        } catch (RuntimeException e) {
            LOG.error("event=handler-failed where={} target=\"{}\"", where, target, e);
            breakLink("a handler of this process failed");
        } catch (Error e) {
            options.faults().onFault("rpc client " + where, e);
            breakLink("a handler of this process failed");
        }
    }

    private void breakLink(String reason) {
        ClientLink now = link;
        if (now != null) {
            now.breakOff(reason);
        }
    }

    private void settle(Call call, RpcStatus status, String message) {
        giveBack(call);
        call.reply.completeExceptionally(new RpcException(status, message));
    }

    private void giveBack(Call call) {
        callsInFlight.decrementAndGet();
        bytesInFlight.addAndGet(-call.bytes);
    }

    private static void cancel(Future<?> timer) {
        if (timer != null) {
            timer.cancel(false);
        }
    }

    private static final class Call {
        final int method;
        final int bytes;
        final long timeoutMs;
        final long deadlineNanos;
        final CompletableFuture<ByteBuf> reply = new CompletableFuture<>();
        long correlation;
        boolean sent;

        Call(int method, int bytes, long timeoutMs, long deadlineNanos) {
            this.method = method;
            this.bytes = bytes;
            this.timeoutMs = timeoutMs;
            this.deadlineNanos = deadlineNanos;
        }
    }

    /** Something that waits for the connection. */
    private record Pending(Runnable send, Runnable drop) {}
}
