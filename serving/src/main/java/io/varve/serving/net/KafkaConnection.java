package io.varve.serving.net;

import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.timeout.IdleState;
import io.netty.handler.timeout.IdleStateEvent;
import io.varve.base.Invariant;
import io.varve.serving.core.connection.ReadGate;
import io.varve.serving.core.connection.ReadGate.Reason;
import io.varve.serving.core.connection.ResponseOrder;
import io.varve.serving.kafka.wire.FetchedRecords;
import io.varve.serving.kafka.wire.MalformedRequestException;
import io.varve.serving.kafka.wire.ParsedRequest;
import io.varve.serving.kafka.wire.RequestParser;
import io.varve.serving.kafka.wire.ResponseWriter;
import io.varve.serving.request.Answer;
import io.varve.serving.request.ClientRequest;
import io.varve.serving.session.ClientSession;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.common.protocol.ApiKeys;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.requests.AbstractResponse;

/**
 * One client connection. Everything here runs on its event loop.
 *
 * <p>Requests are pipelined: each is handed to the {@link io.varve.serving.request.RequestProcessor} as soon as it is read, in order, while
 * earlier ones still wait for a quorum; {@link ResponseOrder} lets their answers leave in the order in which they came. Kafka's own broker
 * takes one request of a connection at a time. The one exception is Fetch: one at a time, for its answers are large, and what follows a
 * second one waits behind it.
 *
 * <p>{@link ReadGate} decides whether the socket is read. Request bytes are charged to {@link RequestMemory} from the frame's first byte until
 * the request's future completes, which is also how long the frame lives.
 */
final class KafkaConnection extends ChannelInboundHandlerAdapter implements FrameDecoder.FrameSink {

    private final ServerContext server;
    private final ClientSession session;
    private final String address;
    private final boolean withinLimits;
    private final ReadGate gate;
    private final ResponseOrder<Turn> order = new ResponseOrder<>();
    private final ArrayDeque<ByteBuf> parked = new ArrayDeque<>();

    private Channel channel;
    private ChannelHandlerContext idleContext;
    private ChannelHandlerContext decoderContext;
    private FrameDecoder decoder;
    private boolean fetching;
    private boolean closed;
    private boolean draining;

    KafkaConnection(ServerContext server, ClientSession session, boolean withinLimits) {
        this.server = server;
        this.session = session;
        this.address = session.address().getHostAddress();
        this.withinLimits = withinLimits;
        this.gate = new ReadGate(
                server.options().connectionRequestsMax(), server.options().connectionBytesMax());
    }

    /** An answer in its place in the order. */
    private record Turn(ClientRequest request, Answer answer) {}

    /**
     * The handlers in front of this.
     *
     * @param idle next to the socket, watches for silence
     * @param before can be told to go on
     */
    void attach(ChannelHandlerContext idle, FrameDecoder before, ChannelHandlerContext context) {
        this.idleContext = idle;
        this.decoder = before;
        this.decoderContext = context;
    }

    @Override
    public void handlerAdded(ChannelHandlerContext ctx) {
        channel = ctx.channel();
    }

    // ---- frames in

    @Override
    public boolean onFrameStart(int bytes) {
        if (gate.stands(Reason.CLOSING)) {
            return false;
        }
        if (server.memory().tryTake(bytes)) {
            return true;
        }
        stop(Reason.MEMORY);
        server.memory().onFree(bytes, () -> later(this::onMemory));
        return false;
    }

    private void onMemory() {
        if (!closed) {
            gate.go(Reason.MEMORY);
            decoder.resume(decoderContext);
            applyGate();
        }
    }

    @Override
    public void onFrame(ByteBuf frame) {
        int bytes = frame.readableBytes();
        if (closed) {
            drop(frame);
            return;
        }
        server.metrics().onBytesIn(bytes);
        gate.onRequest(bytes);
        if (!parked.isEmpty() || fetching && isFetch(frame)) {
            parked.add(frame);
            gate.stop(Reason.FETCHING);
        } else {
            begin(frame, bytes);
        }
        applyGate();
    }

    @Override
    public void onFrameDropped(int bytes) {
        server.memory().give(bytes);
    }

    @Override
    public void onBadFrame(int claimedBytes) {
        refuse("frame_bytes=" + claimedBytes, null);
    }

    private void begin(ByteBuf frame, int bytes) {
        ClientRequest request;
        try {
            ParsedRequest parsed = RequestParser.parse(frame);
            if (!withinLimits && parsed.header().apiKey() != ApiKeys.API_VERSIONS) {
                throw new MalformedRequestException("There are too many connections.");
            }
            request = new ClientRequest(session, parsed, bytes);
        } catch (MalformedRequestException e) {
            drop(frame);
            refuse("reason=" + '"' + e.getMessage() + '"', e);
            return;
        }
        fetching |= request.api() == ApiKeys.FETCH;
        long ticket = order.open();
        long startNs = server.clock().nanoTime();
        CompletableFuture<Answer> future = process(request);
        if (future.isDone()) {
            onDone(ticket, request, frame, future, startNs);
        } else {
            future.whenComplete((answer, failure) -> later(() -> onDone(ticket, request, frame, future, startNs)));
        }
    }

    private CompletableFuture<Answer> process(ClientRequest request) {
        try {
            return server.processor().process(request);
        } catch (Throwable failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    // ---- answers out

    private void onDone(
            long ticket, ClientRequest request, ByteBuf frame, CompletableFuture<Answer> future, long startNs) {
        drop(frame);
        server.metrics().onRequest(request.api(), server.clock().nanoTime() - startNs);
        Answer answer = answerOf(request, future);
        if (closed) {
            discard(answer);
            return;
        }
        order.complete(ticket, new Turn(request, answer));
        if (sendReady()) {
            channel.flush();
            applyGate();
        }
    }

    private Answer answerOf(ClientRequest request, CompletableFuture<Answer> future) {
        try {
            return future.join();
        } catch (Throwable wrapped) {
            Throwable failure = wrapped.getCause() == null ? wrapped : wrapped.getCause();
            return failed(request, failure);
        }
    }

    private Answer failed(ClientRequest request, Throwable failure) {
        if (failure instanceof Error) {
            server.faults().onFault("request " + request.api(), failure);
        }
        server.log()
                .warn(
                        "event=request_failed api={} version={} client={} client_id={}",
                        request.api(),
                        request.version(),
                        session,
                        request.clientId(),
                        failure);
        AbstractResponse response = request.parsed()
                .body()
                .getErrorResponse(Errors.forException(failure).exception());
        return response == null ? Answer.NONE : Answer.of(response);
    }

    /** Writes what has its turn; answers whether there was any. */
    private boolean sendReady() {
        boolean any = false;
        for (Turn turn; (turn = order.next()) != null; any = true) {
            send(turn);
        }
        if (draining && order.pending() == 0) {
            channel.flush();
            channel.close();
        }
        return any;
    }

    private void send(Turn turn) {
        ClientRequest request = turn.request();
        gate.onAnswered(request.bytes());
        if (turn.answer().response().isPresent()) {
            write(request, turn.answer());
        } else {
            turn.answer().whenGone().run();
        }
        if (turn.answer().close()) {
            channel.close();
        }
        if (request.api() == ApiKeys.FETCH) {
            fetching = false;
            if (!parked.isEmpty()) {
                later(this::unpark);
            }
        }
    }

    private void write(ClientRequest request, Answer answer) {
        AbstractResponse response = answer.response().orElseThrow();
        Optional<ByteBuf> frame = frameOf(request, response)
                .or(() -> frameOf(
                        request, request.parsed().body().getErrorResponse(Errors.UNKNOWN_SERVER_ERROR.exception())));
        if (frame.isEmpty()) {
            answer.whenGone().run();
            channel.close();
            return;
        }
        server.metrics().onBytesOut(frame.get().readableBytes());
        GatheringWrite.write(idleContext, frame.get(), answer.whenGone());
        throttle(response.throttleTimeMs());
    }

    /** The answer's frame; empty, after a line in the log, if it has something that its version can't say. */
    private Optional<ByteBuf> frameOf(ClientRequest request, AbstractResponse response) {
        try {
            return Optional.of(
                    ResponseWriter.write(channel.alloc(), request.parsed().header(), response, request.version()));
        } catch (RuntimeException e) {
            server.log()
                    .error(
                            "event=response_unwritable api={} version={} client={}",
                            request.api(),
                            request.version(),
                            session,
                            e);
            return Optional.empty();
        }
    }

    /** Kafka's way of throttling (KIP-219): the answer goes out at once and names the time; until it is over nothing more is read. */
    private void throttle(int throttleMs) {
        if (throttleMs > 0) {
            gate.stop(Reason.THROTTLED);
            channel.eventLoop()
                    .schedule(
                            () -> {
                                gate.go(Reason.THROTTLED);
                                applyGate();
                            },
                            throttleMs,
                            TimeUnit.MILLISECONDS);
        }
    }

    private void unpark() {
        while (!parked.isEmpty() && !(fetching && isFetch(parked.peek()))) {
            ByteBuf frame = parked.poll();
            begin(frame, frame.readableBytes());
        }
        if (parked.isEmpty()) {
            gate.go(Reason.FETCHING);
        }
        applyGate();
    }

    private static boolean isFetch(ByteBuf frame) {
        return frame.readableBytes() >= Short.BYTES && frame.getShort(frame.readerIndex()) == ApiKeys.FETCH.id;
    }

    /** Hops onto the event loop; after that has ended there is nothing left to do for anybody. */
    private void later(Runnable task) {
        try {
            channel.eventLoop().execute(task);
        } catch (RejectedExecutionException loopEnded) {
            server.log().debug("event=late_answer_dropped client={}", session);
        }
    }

    // ---- reading or not

    private void stop(Reason reason) {
        gate.stop(reason);
        applyGate();
    }

    private void applyGate() {
        boolean open = gate.isOpen();
        if (channel.config().isAutoRead() != open) {
            channel.config().setAutoRead(open);
        }
    }

    @Override
    public void channelWritabilityChanged(ChannelHandlerContext ctx) {
        if (channel.isWritable()) {
            gate.go(Reason.UNWRITABLE);
        } else {
            gate.stop(Reason.UNWRITABLE);
        }
        applyGate();
    }

    // ---- the end

    /** Takes no more requests, answers those under way, then closes. */
    void drain() {
        channel.eventLoop().execute(() -> {
            draining = true;
            stop(Reason.CLOSING);
            if (order.pending() == 0) {
                channel.close();
            }
        });
    }

    @Override
    public void userEventTriggered(ChannelHandlerContext ctx, Object event) {
        if (!(event instanceof IdleStateEvent idle)) {
            return;
        }
        // Half a request holds memory for the whole of it: it must not stay.
        boolean stalled = idle.state() == IdleState.READER_IDLE && decoder.isWithinFrame() && gate.isOpen();
        boolean idleForLong = idle.state() == IdleState.ALL_IDLE && order.pending() == 0;
        if (stalled) {
            refuse("reason=\"A request stopped half way.\"", null);
        } else if (idleForLong) {
            channel.close();
        }
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext ctx, Throwable cause) {
        if (cause instanceof Error) {
            server.faults().onFault("connection", cause);
        }
        server.log().debug("event=connection_broken client={} reason=\"{}\"", session, cause.toString());
        channel.close();
    }

    @Override
    public void channelInactive(ChannelHandlerContext ctx) {
        if (closed) {
            return;
        }
        closed = true;
        gate.stop(Reason.CLOSING);
        for (Turn turn; (turn = order.next()) != null; ) {
            discard(turn.answer());
        }
        parked.forEach(this::drop);
        parked.clear();
        server.processor().onDisconnect(session);
        server.onClosed(this);
    }

    private void refuse(String what, Throwable cause) {
        server.metrics().onRefused();
        if (server.limiter().mayLog()) {
            server.log()
                    .warn(
                            "event=connection_refused client={} listener={} held_back={} {}",
                            session,
                            session.listener(),
                            server.limiter().heldBack(),
                            what,
                            cause instanceof MalformedRequestException ? null : cause);
        }
        gate.stop(Reason.CLOSING);
        channel.close();
    }

    /** Answers of a connection that is gone. */
    private static void discard(Answer answer) {
        answer.response().ifPresent(response -> FetchedRecords.release(response.data()));
        answer.whenGone().run();
    }

    private void drop(ByteBuf frame) {
        int bytes = frame.capacity();
        Invariant.check(frame.refCnt() > 0, "a frame lives until its request is done");
        frame.release();
        server.memory().give(bytes);
    }

    /** The client's address, for the connection count. */
    String address() {
        return address;
    }

    /** The socket. */
    Channel channel() {
        return channel;
    }
}
