package io.varve.protocol.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import java.io.IOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The RPC over real sockets. */
@Timeout(30)
class RpcIT {

    private static final int ECHO = 1;
    private static final int NEVER = 2;
    private static final int THROWS = 3;
    private static final int REFUSES = 4;

    private final RpcLoops loops = RpcLoops.start("rpc-it", 2);
    private final List<AutoCloseable> opened = new ArrayList<>();
    private final AtomicReference<Throwable> fault = new AtomicReference<>();

    @AfterEach
    void closeAll() throws Exception {
        for (int i = opened.size() - 1; i >= 0; i--) {
            opened.get(i).close();
        }
        loops.close();
        assertThat(fault.get()).isNull();
    }

    @Test
    void aCallIsAnsweredWithTheServicesReply() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);

        assertThat(text(connection.call(ECHO, bytes("hello"), 5_000))).isEqualTo("hello");
        assertThat(connection.state()).isEqualTo(RpcConnection.State.READY);
        assertThat(connection.peer().orElseThrow().nodeId()).isEqualTo(7);
    }

    @Test
    void largeBodiesAndManyCallsKeepTheirOrderAndTheirBytes() throws Exception {
        EchoService service = new EchoService();
        RpcServer server = serve(service, RpcBounds.DEFAULT, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);
        List<CompletableFuture<ByteBuf>> replies = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            int size = i % 50 == 0 ? 300_000 : i;
            replies.add(
                    connection.call(ECHO, Unpooled.buffer(size + 4).writeInt(i).writeZero(size), 20_000));
        }
        for (int i = 0; i < replies.size(); i++) {
            ByteBuf reply = replies.get(i).get();
            assertThat(reply.readInt()).isEqualTo(i);
            assertThat(reply.readableBytes()).isEqualTo(i % 50 == 0 ? 300_000 : i);
            reply.release();
        }
        assertThat(server.inFlightBytes()).isZero();
    }

    @Test
    void anUnansweredCallFailsAsUnknownWhenItsTimeIsUp() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);

        assertThat(failure(connection.call(NEVER, bytes("x"), 50)).status()).isEqualTo(RpcStatus.NO_ANSWER);
        assertThat(text(connection.call(ECHO, bytes("still there"), 5_000))).isEqualTo("still there");
    }

    @Test
    void whatTheServiceRefusesOrThrowsIsToldApart() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);

        RpcException refused = failure(connection.call(REFUSES, bytes("x"), 5_000));
        assertThat(refused.status()).isEqualTo(RpcStatus.UNAVAILABLE);
        assertThat(refused).hasMessageContaining("not today");
        assertThat(failure(connection.call(THROWS, bytes("x"), 5_000)).status()).isEqualTo(RpcStatus.INTERNAL);
    }

    @Test
    void aCallToNobodyIsCertainlyNotSent() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        int port = server.port();
        server.close();
        RpcConnection connection = connect(port, 7, RpcBounds.DEFAULT);

        RpcException failure = failure(connection.call(ECHO, bytes("x"), 5_000));
        assertThat(failure.status()).isEqualTo(RpcStatus.NOT_SENT);
        assertThat(failure.status().certainlyNotDone()).isTrue();
    }

    @Test
    void aCallUnderWayIsUnknownWhenTheConnectionBreaksAndTheNextOneReconnects() throws Exception {
        EchoService service = new EchoService();
        RpcServer server = serve(service, RpcBounds.DEFAULT, 0);
        int port = server.port();
        RpcConnection connection = connect(port, 7, RpcBounds.DEFAULT);
        assertThat(text(connection.call(ECHO, bytes("up"), 5_000))).isEqualTo("up");

        CompletableFuture<ByteBuf> underWay = connection.call(NEVER, bytes("x"), 20_000);
        service.never.take();
        server.close();
        assertThat(failure(underWay).status()).isEqualTo(RpcStatus.NO_ANSWER);
        assertThat(service.disconnected.await(5, TimeUnit.SECONDS)).isTrue();

        serve(new EchoService(), RpcBounds.DEFAULT, port);
        assertThat(text(untilSent(connection, "back"))).isEqualTo("back");
    }

    @Test
    void anotherNodeAnotherClusterAndAnotherRoleAreRefusedWithWords() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);

        assertThat(failure(connect(server.port(), 8, RpcBounds.DEFAULT).call(ECHO, bytes("x"), 5_000)))
                .hasMessageContaining("this is bookie 7, not bookie 8")
                .extracting(RpcException::status)
                .isEqualTo(RpcStatus.REFUSED);
        assertThat(failure(client("another", RpcBounds.DEFAULT)
                        .connection(new RpcTarget("localhost", server.port(), RpcRole.BOOKIE, 7))
                        .call(ECHO, bytes("x"), 5_000)))
                .hasMessageContaining("of cluster cluster-1, the caller of another")
                .extracting(RpcException::status)
                .isEqualTo(RpcStatus.REFUSED);
        assertThat(failure(client("cluster-1", RpcBounds.DEFAULT)
                        .connection(new RpcTarget("localhost", server.port(), RpcRole.METADATA, RpcIdentity.NO_NODE))
                        .call(ECHO, bytes("x"), 5_000)))
                .hasMessageContaining("this is bookie 7, not metadata");
    }

    @Test
    void somebodyWhoSpeaksHttpIsToldSo() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        assertThat(say(server.port(), "GET / HTTP/1.1\r\nHost: x\r\n\r\n".getBytes(StandardCharsets.US_ASCII)))
                .startsWith("HTTP/1.1 400")
                .contains("internal port of a Varve bookie 7");
    }

    @Test
    void somebodyWhoSpeaksKafkaIsToldSo() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        byte[] apiVersions = {0, 0, 0, 14, 0, 18, 0, 3, 0, 0, 0, 1, 0, 1, 'x', 0, 1, 'y'};
        assertThat(say(server.port(), apiVersions)).contains("Kafka clients connect to a broker's listener");
    }

    @Test
    void aNewerAndAnOlderCallerAreToldWhichVersionsThereAre() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        assertThat(offer(server.port(), 90, 95)).satisfies(answer -> {
            assertThat(answer.code()).isEqualTo(RpcStatus.UNSUPPORTED.code());
            assertThat(answer.message()).contains("90 to 95").contains("the caller is newer");
        });
        assertThat(offer(server.port(), 0, 0))
                .satisfies(answer -> assertThat(answer.message()).contains("the caller is too old"));
        assertThat(offer(server.port(), 1, 95)).satisfies(answer -> {
            assertThat(answer.code()).isZero();
            assertThat(answer.version()).isEqualTo(Hello.VERSION_MAX);
        });
    }

    @Test
    void aClientThatMeetsAnotherProtocolSaysSo() throws Exception {
        CompletableFuture<Void> speaking;
        try (java.net.ServerSocket other = new java.net.ServerSocket(0)) {
            // To everybody who comes: whoever was called before at a port that is free again may still look there for
            // its server.
            speaking = CompletableFuture.runAsync(() -> {
                while (!other.isClosed()) {
                    try (Socket socket = other.accept()) {
                        socket.getOutputStream().write("SSH-2.0-OpenSSH\r\n".getBytes(StandardCharsets.US_ASCII));
                        socket.shutdownOutput();
                        socket.getInputStream().readAllBytes();
                    } catch (IOException over) {
                        // The caller has gone, or the test has ended.
                    }
                }
            });
            RpcConnection connection = connect(other.getLocalPort(), 7, RpcBounds.DEFAULT);
            RpcException failure = failure(connection.call(ECHO, bytes("x"), 5_000));
            assertThat(failure.status()).isEqualTo(RpcStatus.UNSUPPORTED);
            assertThat(failure).hasMessageContaining("no Varve node");
        }
        speaking.get(5, TimeUnit.SECONDS);
    }

    @Test
    void aStreamCarriesMessagesInOrderBothWaysAndEnds() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);
        Recorder recorder = new Recorder();
        RpcStream stream = connection.openStream(9, recorder);
        for (int i = 0; i < 200; i++) {
            stream.send(bytes("m"), bytes(Integer.toString(i)));
        }
        for (int i = 0; i < 200; i++) {
            assertThat(recorder.messages.take()).isEqualTo("m" + i);
        }
        stream.send(bytes("end"));
        assertThat(recorder.end.get()).isEqualTo("ENDED as asked");
        awaitZero(server);
    }

    @Test
    void aHandlerThatBreaksAnInvariantReachesTheFaultHandlerAndNobodyElsesCallIsForgotten() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);
        CompletableFuture<ByteBuf> bystander = connection.call(NEVER, bytes("x"), 20_000);
        RpcStream stream = connection.openStream(9, new RpcStreamHandler() {
            @Override
            public void onMessage(ByteBuf body) {
                throw new io.varve.base.InvariantViolation("planted");
            }

            @Override
            public void onEnd(RpcStatus status, String message) {}
        });
        stream.send(bytes("a"));
        assertThat(failure(bystander).status()).isEqualTo(RpcStatus.NO_ANSWER);
        assertThat(fault.getAndSet(null)).hasMessage("planted");
    }

    @Test
    void whatIsSentAtTheMomentOfConnectingGoesBehindWhatWaited() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        Recorder recorder = new Recorder();
        AtomicReference<RpcStream> stream = new AtomicReference<>();
        CountDownLatch opened = new CountDownLatch(1);
        CountDownLatch connected = new CountDownLatch(1);
        client("cluster-1", RpcBounds.DEFAULT)
                .connection(
                        new RpcTarget("localhost", server.port(), RpcRole.BOOKIE, 7), (connection, state, reason) -> {
                            if (state == RpcConnection.State.READY) {
                                stream.set(connection.openStream(9, recorder));
                                stream.get().send(bytes("first"));
                                opened.countDown();
                            }
                        })
                .call(ECHO, bytes("waited"), 5_000)
                .thenAccept(reply -> {
                    reply.release();
                    stream.get().send(bytes("second"));
                    connected.countDown();
                });
        assertThat(opened.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(connected.await(5, TimeUnit.SECONDS)).isTrue();
        assertThat(recorder.messages.take()).isEqualTo("first");
        assertThat(recorder.messages.take()).isEqualTo("second");
    }

    @Test
    void aStreamEndsWithItsConnection() throws Exception {
        RpcServer server = serve(new EchoService(), RpcBounds.DEFAULT, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);
        Recorder recorder = new Recorder();
        RpcStream stream = connection.openStream(9, recorder);
        stream.send(bytes("a"));
        assertThat(recorder.messages.take()).isEqualTo("a");
        server.close();
        assertThat(recorder.end.get()).startsWith("NO_ANSWER");
        stream.send(bytes("released"));
    }

    @Test
    void aServerThatIsFullStopsReadingAndGoesOnWhenItsServiceIsDone() throws Exception {
        EchoService service = new EchoService();
        RpcBounds narrow = RpcBounds.DEFAULT.withInFlight(4, 10_000, 10_000);
        RpcServer server = serve(service, narrow, 0);
        RpcConnection connection = connect(server.port(), 7, RpcBounds.DEFAULT);
        List<CompletableFuture<ByteBuf>> replies = new ArrayList<>();
        for (int i = 0; i < 2_000; i++) {
            replies.add(connection.call(NEVER, Unpooled.buffer(9_000).writeZero(9_000), 25_000));
        }
        RpcRequest first = service.never.take();
        int answered = 0;
        long peak = 0;
        for (RpcRequest next = first; next != null; next = service.never.poll(5, TimeUnit.SECONDS)) {
            peak = Math.max(peak, server.inFlightBytes());
            next.reply(bytes("done"));
            if (++answered == replies.size()) {
                break;
            }
        }
        for (CompletableFuture<ByteBuf> reply : replies) {
            assertThat(text(reply)).isEqualTo("done");
        }
        // What one receive buffer held beyond the bound is the overshoot.
        assertThat(peak).isBetween(10_000L, 10_000L + 300_000L);
        awaitZero(server);
    }

    @Test
    void aSilentPeerIsFoundByBothSides() throws Exception {
        EchoService service = new EchoService();
        RpcServer server = serve(service, RpcBounds.DEFAULT.withSilence(300), 0);
        try (Socket silent = new Socket("localhost", server.port())) {
            ByteBuf hello = Unpooled.buffer();
            new Hello.Offer(1, 1, new RpcIdentity(RpcRole.BROKER, 3, 1, ""), RpcRole.ANY, RpcIdentity.NO_NODE)
                    .writeTo(hello);
            silent.getOutputStream().write(hello.array(), 0, hello.readableBytes());
            assertThat(service.disconnected.await(10, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void anIdleConnectionStaysUp() throws Exception {
        EchoService service = new EchoService();
        RpcBounds quick = RpcBounds.DEFAULT.withSilence(150);
        RpcServer server = serve(service, quick, 0);
        RpcConnection connection = connect(server.port(), 7, quick);
        assertThat(text(connection.call(ECHO, bytes("a"), 5_000))).isEqualTo("a");
        assertThat(service.disconnected.await(600, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(text(connection.call(ECHO, bytes("b"), 5_000))).isEqualTo("b");
        assertThat(service.connects.get()).isEqualTo(1);
    }

    private RpcServer serve(RpcService service, RpcBounds bounds, int port) {
        RpcIdentity identity = new RpcIdentity(RpcRole.BOOKIE, 7, 99, "cluster-1");
        RpcServer server = RpcServer.bind(
                new RpcServerOptions(
                        "localhost",
                        port,
                        () -> identity,
                        loops,
                        SystemClock.INSTANCE,
                        (where, what) -> fault.set(what),
                        bounds),
                service);
        opened.add(server);
        return server;
    }

    private RpcClient client(String cluster, RpcBounds bounds) {
        RpcIdentity identity = new RpcIdentity(RpcRole.BROKER, 3, 1, cluster);
        RpcClient client = new RpcClient(new RpcClientOptions(
                () -> identity,
                loops,
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                (where, what) -> fault.set(what),
                bounds));
        opened.add(client);
        return client;
    }

    private RpcConnection connect(int port, int node, RpcBounds bounds) {
        return client("cluster-1", bounds).connection(new RpcTarget("localhost", port, RpcRole.BOOKIE, node));
    }

    private static CompletableFuture<ByteBuf> untilSent(RpcConnection connection, String what) {
        return connection
                .call(ECHO, bytes(what), 5_000)
                .handle((reply, failure) -> failure == null
                        ? CompletableFuture.completedFuture(reply)
                        : CompletableFuture.supplyAsync(
                                        () -> what, CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS))
                                .thenCompose(again -> untilSent(connection, again)))
                .thenCompose(next -> next);
    }

    private static void awaitZero(RpcServer server) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (server.inFlightBytes() != 0) {
            assertThat(System.nanoTime()).isLessThan(until);
            Thread.onSpinWait();
        }
    }

    private static String say(int port, byte[] what) throws IOException {
        try (Socket socket = new Socket("localhost", port)) {
            socket.setSoTimeout(10_000);
            socket.getOutputStream().write(what);
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private static Hello.Answer offer(int port, int min, int max) throws IOException {
        try (Socket socket = new Socket("localhost", port)) {
            socket.setSoTimeout(10_000);
            ByteBuf hello = Unpooled.buffer();
            new Hello.Offer(min, max, new RpcIdentity(RpcRole.BROKER, 3, 1, ""), RpcRole.ANY, RpcIdentity.NO_NODE)
                    .writeTo(hello);
            socket.getOutputStream().write(hello.array(), 0, hello.readableBytes());
            byte[] prefix = socket.getInputStream().readNBytes(Hello.PREFIX_BYTES);
            int length = (prefix[4] & 0xff) << 8 | prefix[5] & 0xff;
            return Hello.Answer.read(
                    Unpooled.wrappedBuffer(socket.getInputStream().readNBytes(length)));
        }
    }

    private static ByteBuf bytes(String text) {
        return Unpooled.copiedBuffer(text, StandardCharsets.UTF_8);
    }

    private static String text(CompletableFuture<ByteBuf> reply) throws Exception {
        ByteBuf body = reply.get();
        String text = body.toString(StandardCharsets.UTF_8);
        body.release();
        return text;
    }

    private static RpcException failure(CompletableFuture<ByteBuf> reply) {
        AtomicReference<Throwable> cause = new AtomicReference<>();
        assertThatThrownBy(reply::get).isInstanceOf(ExecutionException.class).satisfies(e -> cause.set(e.getCause()));
        Throwable root = cause.get() instanceof CompletionException wrapped ? wrapped.getCause() : cause.get();
        assertThat(root).isInstanceOf(RpcException.class);
        return (RpcException) root;
    }

    /** Answers with what it was asked; keeps some requests to itself. */
    private static final class EchoService implements RpcService {
        final BlockingQueue<RpcRequest> never = new LinkedBlockingQueue<>();
        final CountDownLatch disconnected = new CountDownLatch(1);
        final AtomicInteger connects = new AtomicInteger();

        @Override
        public void onConnected(RpcPeer peer) {
            connects.incrementAndGet();
        }

        @Override
        public void onDisconnected(RpcPeer peer) {
            disconnected.countDown();
        }

        @Override
        public void onRequest(RpcRequest request) {
            switch (request.method()) {
                case ECHO -> request.reply(request.body().retain());
                case NEVER -> never.add(request);
                case THROWS -> throw new IllegalStateException("planted");
                case REFUSES -> request.fail(RpcStatus.UNAVAILABLE, "not today");
                default -> request.fail(RpcStatus.UNSUPPORTED, "no such method: " + request.method());
            }
        }

        @Override
        public RpcStreamHandler onStream(RpcServerStream stream) {
            return new RpcStreamHandler() {
                @Override
                public void onMessage(ByteBuf body) {
                    stream.consumed(body.readableBytes());
                    if (body.toString(StandardCharsets.UTF_8).equals("end")) {
                        stream.end(RpcStatus.ENDED, "as asked");
                    } else {
                        stream.send(body.retain());
                    }
                }

                @Override
                public void onEnd(RpcStatus status, String message) {}
            };
        }
    }

    private static final class Recorder implements RpcStreamHandler {
        final BlockingQueue<String> messages = new LinkedBlockingQueue<>();
        final CompletableFuture<String> end = new CompletableFuture<>();

        @Override
        public void onMessage(ByteBuf body) {
            messages.add(body.toString(StandardCharsets.UTF_8));
        }

        @Override
        public void onEnd(RpcStatus status, String message) {
            end.complete(status + " " + message);
        }
    }
}
