package io.varve.bookie.net;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.AppendListener;
import io.varve.bookie.client.AppendStream;
import io.varve.bookie.client.BookieAddress;
import io.varve.bookie.client.BookieClient.CheckpointReply;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieClientOptions;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.client.RemoteBookieClient;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClient;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcException;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcServer;
import io.varve.protocol.rpc.RpcServerOptions;
import io.varve.protocol.rpc.RpcStatus;
import io.varve.protocol.rpc.RpcTarget;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.protocol.storage.EntryFormat;
import io.varve.protocol.storage.StorageMethods;
import io.varve.sim.RecordingFaultHandler;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The remote client against the bookie's network side, over real sockets, with a store in memory. */
@Timeout(30)
class BookieNetIT {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 2), 0);
    private static final SegmentId SEGMENT = new SegmentId(5);
    private static final long TIMEOUT_MS = 5_000;

    private final RpcLoops loops = RpcLoops.start("bookie-net-it", 2);
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final MemorySegmentStore store = new MemorySegmentStore();
    private final BookieService service =
            new BookieService(store, 1 << 20, SystemClock.INSTANCE, new NetMetrics(new SimpleMeterRegistry()));
    private final RpcServer server = serve(RpcBounds.DEFAULT);
    private final BookieAddress bookie = new BookieAddress(new BookieId(7), "localhost", server.port());
    private final RpcClientOptions rpc = new RpcClientOptions(
            () -> new RpcIdentity(RpcRole.BROKER, 1, 1, "c"),
            loops,
            SystemClock.INSTANCE,
            SystemRandomness.INSTANCE,
            faults,
            RpcBounds.DEFAULT);
    private final RemoteBookieClient client = new RemoteBookieClient(BookieClientOptions.of(rpc));
    private final Heard heard = new Heard();

    @AfterEach
    void close() {
        client.close();
        server.close();
        store.close();
        loops.close();
        faults.assertNone();
    }

    @Test
    void entriesAreAppendedAcknowledgedAndReadBack() throws Exception {
        AppendStream stream = open(heard);
        for (int i = 0; i < 1_000; i++) {
            append(stream, i, "payload " + i);
        }
        assertThat(heard.untilDurable(1_000)).isTrue();
        assertThat(stream.pendingBytes()).isZero();
        assertThat(server.inFlightBytes()).isZero();

        ReadReply read = client.read(bookie, SEGMENT, 500, 10_000, ReadPriority.TAIL, TIMEOUT_MS)
                .get();
        assertThat(read.status()).isEqualTo(BookieStatus.OK);
        assertThat(read.end()).isEqualTo(1_000);
        ByteBuffer entries = read.entries().nioBuffer();
        assertThat(EntryFormat.firstOffset(entries, 0)).isEqualTo(500);
        assertThat(read.entries().readableBytes()).isBetween(9_000, 10_000);
        read.entries().release();
    }

    @Test
    void largeEntriesPassWhole() throws Exception {
        AppendStream stream = open(heard);
        byte[] large = new byte[3_000_000];
        java.util.Arrays.fill(large, (byte) 'x');
        for (int i = 0; i < 5; i++) {
            append(stream, i, large);
        }
        assertThat(heard.untilDurable(5)).isTrue();
        ReadReply read = client.read(bookie, SEGMENT, 3, 1, ReadPriority.CATCH_UP, TIMEOUT_MS)
                .get();
        assertThat(read.entries().readableBytes()).isEqualTo(large.length + EntryFormat.HEADER_BYTES);
        read.entries().release();
    }

    @Test
    void aGapEndsTheStreamWithTheReplicasEndAndNothingStaysInWork() throws Exception {
        AppendStream stream = open(heard);
        append(stream, 0, "a");
        append(stream, 2, "c");
        append(stream, 3, "d");
        assertThat(heard.failure()).isEqualTo("GAP 1");
        awaitIdle();
    }

    @Test
    void aFenceStopsTheStreamAndTellsTheEnd() throws Exception {
        AppendStream stream = open(heard);
        append(stream, 0, "a");
        assertThat(heard.untilDurable(1)).isTrue();
        List<FenceReply> fenced = client.fence(
                        bookie,
                        List.of(
                                new FenceRequest(PARTITION, 9, SEGMENT, 1),
                                new FenceRequest(PARTITION, 9, new SegmentId(6), 1)),
                        TIMEOUT_MS)
                .get();
        assertThat(fenced)
                .containsExactly(
                        new FenceReply(BookieStatus.OK, 1, 0, 1, false, 9),
                        new FenceReply(BookieStatus.NO_SUCH_SEGMENT, -1, -1, 0, false, 9));
        append(stream, 1, "b");
        assertThat(heard.failure()).isEqualTo("FENCED 1");
        assertThat(client.describe(bookie, SEGMENT, TIMEOUT_MS).get().end()).isEqualTo(1);
    }

    @Test
    void checkpointsAreKeptInOrderWithTheEntries() throws Exception {
        AppendStream stream = open(heard);
        append(stream, 0, "a");
        stream.checkpoint(1, Unpooled.buffer().writeLong(77));
        append(stream, 1, "b");
        assertThat(heard.untilDurable(2)).isTrue();
        CheckpointReply reply =
                client.readCheckpoint(bookie, SEGMENT, 5, TIMEOUT_MS).get();
        assertThat(reply.offset()).isEqualTo(1);
        assertThat(reply.state().readLong()).isEqualTo(77);
        reply.state().release();
        assertThat(client.readCheckpoint(bookie, SEGMENT, 0, TIMEOUT_MS).get().status())
                .isEqualTo(BookieStatus.BEYOND_END);
    }

    @Test
    void aSealedSegmentTakesNothingMore() throws Exception {
        AppendStream stream = open(heard);
        append(stream, 0, "a");
        stream.seal(1);
        append(stream, 1, "b");
        assertThat(heard.failure()).isEqualTo("SEALED 1");
    }

    @Test
    void aWrongChecksumIsRefused() throws Exception {
        AppendStream stream = open(heard);
        stream.append(0, 0, 12345, Unpooled.buffer().writeInt(1), 0);
        assertThat(heard.failure()).isEqualTo("BAD_CHECKSUM 0");
    }

    @Test
    void aStreamWhoseBookieFallsSilentFailsAsUnknown() throws Exception {
        RemoteBookieClient impatient = new RemoteBookieClient(new BookieClientOptions(rpc, 2_000, 60_000));
        try {
            AppendStream stream = impatient.openAppend(bookie, PARTITION, SEGMENT, 3, 0, 0, heard);
            append(stream, 0, "a");
            assertThat(heard.untilDurable(1)).isTrue();
            store.hold();
            append(stream, 1, "b");
            assertThat(heard.failure()).isEqualTo("NO_ANSWER -1");
            store.letGo();
            awaitIdle();
        } finally {
            impatient.close();
        }
    }

    @Test
    void theServerStopsReadingWhenTheStoreIsSlowAndLosesNothing() throws Exception {
        RpcServer narrow = serve(RpcBounds.DEFAULT.withInFlight(100, 200_000, 200_000));
        try {
            AppendStream stream = client.openAppend(
                    new BookieAddress(new BookieId(7), "localhost", narrow.port()), PARTITION, SEGMENT, 3, 0, 0, heard);
            store.hold();
            byte[] payload = new byte[10_000];
            for (int i = 0; i < 2_000; i++) {
                append(stream, i, payload);
            }
            long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (narrow.inFlightBytes() < 200_000 && System.nanoTime() < until) {
                Thread.onSpinWait();
            }
            long seen = settled(narrow::inFlightBytes);
            // What one read of the socket brings may lie above the bound, and no more.
            assertThat(seen).isBetween(200_000L, 200_000L + 300_000L);
            store.letGo();
            assertThat(heard.untilDurable(2_000)).isTrue();
        } finally {
            narrow.close();
        }
    }

    /** What a connection has in work decides whether it is read: bytes that were never given back would silence it for ever. */
    @Test
    void whatIsRefusedWhileEarlierEntriesAreNotDurableYetIsNoLongerInWork() throws Exception {
        AppendStream stream = open(heard);
        append(stream, 0, "a");
        assertThat(heard.untilDurable(1)).isTrue();
        store.holdDurable();
        append(stream, 1, new byte[5_000]);
        append(stream, 3, new byte[6_000]);
        append(stream, 4, new byte[7_000]);
        assertThat(heard.failure()).isEqualTo("GAP 2");
        store.letGo();
        awaitIdle();
    }

    /** A slow reader holds no memory beyond its budget. */
    @Test
    void aReaderThatDoesNotTakeItsAnswersIsNotReadForAndGetsThemAllInTheEnd() throws Exception {
        AppendStream stream = open(heard);
        byte[] large = new byte[1_000_000];
        append(stream, 0, large);
        assertThat(heard.untilDurable(1)).isTrue();
        int reads = 200;
        try (java.net.Socket slow = new java.net.Socket()) {
            slow.setReceiveBufferSize(64 * 1024);
            slow.connect(new java.net.InetSocketAddress("localhost", server.port()));
            slow.getOutputStream().write(RawFrames.hello(7));
            for (int i = 1; i <= reads; i++) {
                slow.getOutputStream().write(RawFrames.read(i, SEGMENT, 0, 1));
            }
            awaitReads(1);
            assertThat(settled(store::reads))
                    .as("begun for a reader that takes nothing")
                    .isLessThan(40);
            assertThat(RawFrames.countReplies(slow.getInputStream(), reads)).isEqualTo(reads);
        }
        assertThat(store.reads()).isEqualTo(reads);
        awaitIdle();
    }

    @Test
    void aBookieThatStopsAcknowledgesWhatItHasAndSendsTheOwnerElsewhere() throws Exception {
        AppendStream stream = open(heard);
        append(stream, 0, "a");
        assertThat(heard.untilDurable(1)).isTrue();
        awaitIdle(); // a little after the answer: else what is in work below could be the first one yet
        store.hold();
        append(stream, 1, "b");
        awaitInWork();
        service.drain();
        store.letGo();
        assertThat(heard.untilDurable(2)).isTrue();
        append(stream, 2, "c");
        assertThat(heard.failure()).isEqualTo("READ_ONLY 2");
        assertThat(client.describe(bookie, SEGMENT, TIMEOUT_MS).get().end()).isEqualTo(2);
    }

    @Test
    void aBookieOfAnotherNumberIsNotUsed() throws Exception {
        BookieAddress other = new BookieAddress(new BookieId(8), "localhost", server.port());
        assertThat(client.describe(other, SEGMENT, TIMEOUT_MS).get().status()).isEqualTo(BookieStatus.NO_ANSWER);
        client.openAppend(other, PARTITION, SEGMENT, 3, 0, 0, heard);
        assertThat(heard.failure()).isEqualTo("NO_ANSWER -1");
    }

    @Test
    void garbageIsRefusedAndTheConnectionKept() throws Exception {
        RpcClient raw = new RpcClient(rpc);
        try {
            var connection = raw.connection(new RpcTarget("localhost", server.port(), RpcRole.BOOKIE, 7));
            for (int method : new int[] {
                StorageMethods.FENCE, StorageMethods.READ, StorageMethods.READ_CHECKPOINT, StorageMethods.DESCRIBE
            }) {
                assertThat(statusOf(connection.call(method, Unpooled.buffer().writeInt(-1), TIMEOUT_MS)))
                        .isEqualTo(RpcStatus.INVALID);
            }
            assertThat(statusOf(connection.call(0x7777, Unpooled.EMPTY_BUFFER, TIMEOUT_MS)))
                    .isEqualTo(RpcStatus.UNSUPPORTED);
            assertThat(connection.state()).isEqualTo(io.varve.protocol.rpc.RpcConnection.State.READY);
        } finally {
            raw.close();
        }
    }

    private static RpcStatus statusOf(java.util.concurrent.CompletableFuture<ByteBuf> call) throws Exception {
        return call.<RpcStatus>handle((reply, failure) -> ((RpcException) failure).status())
                .get();
    }

    private RpcServer serve(RpcBounds bounds) {
        return RpcServer.bind(
                new RpcServerOptions(
                        "localhost",
                        0,
                        () -> new RpcIdentity(RpcRole.BOOKIE, 7, 1, "c"),
                        loops,
                        SystemClock.INSTANCE,
                        faults,
                        bounds),
                service);
    }

    private AppendStream open(AppendListener listener) {
        return client.openAppend(bookie, PARTITION, SEGMENT, 3, 0, 0, listener);
    }

    private static void append(AppendStream stream, long offset, String payload) {
        append(stream, offset, payload.getBytes(java.nio.charset.StandardCharsets.US_ASCII));
    }

    private static void append(AppendStream stream, long offset, byte[] payload) {
        stream.append(
                offset,
                offset,
                EntryFormat.checksum(offset, offset, ByteBuffer.wrap(payload)),
                Unpooled.wrappedBuffer(payload),
                offset);
    }

    private void awaitReads(long count) {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (store.reads() < count) {
            assertThat(System.nanoTime()).isLessThan(until);
            Thread.onSpinWait();
        }
    }

    private void awaitInWork() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (server.inFlightBytes() == 0) {
            assertThat(System.nanoTime()).isLessThan(until);
            Thread.onSpinWait();
        }
    }

    /** A figure when it moves no more, which can only be seen by looking for a while. */
    private static long settled(LongSupplier figure) throws InterruptedException {
        long seen = figure.getAsLong();
        new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS);
        while (seen != figure.getAsLong()) {
            seen = figure.getAsLong();
            new CountDownLatch(1).await(500, TimeUnit.MILLISECONDS);
        }
        return seen;
    }

    private void awaitIdle() {
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
        while (server.inFlightBytes() != 0) {
            assertThat(System.nanoTime()).isLessThan(until);
            Thread.onSpinWait();
        }
    }

    private static final class Heard implements AppendListener {
        private final BlockingQueue<Long> durable = new LinkedBlockingQueue<>();
        private final BlockingQueue<String> failed = new LinkedBlockingQueue<>();

        @Override
        public void onDurable(long durableEnd) {
            durable.add(durableEnd);
        }

        @Override
        public void onFailed(BookieStatus status, long replicaEnd) {
            failed.add(status + " " + replicaEnd);
        }

        boolean untilDurable(long end) throws InterruptedException {
            long last = -1;
            while (last < end) {
                Long next = durable.poll(10, TimeUnit.SECONDS);
                if (next == null) {
                    return false;
                }
                assertThat(next).isGreaterThan(last);
                last = next;
            }
            return last == end;
        }

        String failure() throws InterruptedException {
            return failed.poll(10, TimeUnit.SECONDS);
        }
    }
}
