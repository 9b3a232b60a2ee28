package io.varve.bookie.net;

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
import io.varve.bookie.client.BookieClientOptions;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.client.RemoteBookieClient;
import io.varve.bookie.store.LocalSegmentStore;
import io.varve.bookie.store.StoreListener;
import io.varve.bookie.store.StoreOptions;
import io.varve.protocol.rpc.RpcBounds;
import io.varve.protocol.rpc.RpcClientOptions;
import io.varve.protocol.rpc.RpcIdentity;
import io.varve.protocol.rpc.RpcLoops;
import io.varve.protocol.rpc.RpcRole;
import io.varve.protocol.rpc.RpcServer;
import io.varve.protocol.rpc.RpcServerOptions;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.protocol.storage.EntryFormat;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;

/**
 * One bookie and one client, each a process, over a socket: what one owner sees of one replica.
 *
 * <pre>
 *  NetBench server DIR PORT
 *  NetBench client PORT ENTRY_BYTES IN_FLIGHT WARM_SECS SECS [PER_SECOND]   as fast as the window lets it, or so many a second
 * </pre>
 */
public final class NetBench {

    private static final int BOOKIE = 7;
    private static final String CLUSTER = "bench";

    private NetBench() {}

    public static void main(String[] args) throws Exception {
        if (args[0].equals("server")) {
            serve(Path.of(args[1]), Integer.parseInt(args[2]));
        } else {
            run(
                    Integer.parseInt(args[1]),
                    Integer.parseInt(args[2]),
                    Integer.parseInt(args[3]),
                    Integer.parseInt(args[4]),
                    Integer.parseInt(args[5]),
                    args.length > 6 ? Long.parseLong(args[6]) : Long.MAX_VALUE);
        }
    }

    private static void onFault(String where, Throwable fault) {
        fault.printStackTrace();
        Runtime.getRuntime().halt(70);
    }

    private static void serve(Path directory, int port) throws InterruptedException {
        LocalSegmentStore store = LocalSegmentStore.open(
                StoreOptions.defaults(CLUSTER, new BookieId(BOOKIE), List.of(directory)),
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                NetBench::onFault,
                StoreListener.NONE,
                new SimpleMeterRegistry());
        RpcLoops loops = RpcLoops.start("bookie", 2);
        RpcServer server = RpcServer.bind(
                new RpcServerOptions(
                        "localhost",
                        port,
                        () -> new RpcIdentity(RpcRole.BOOKIE, BOOKIE, 1, CLUSTER),
                        loops,
                        SystemClock.INSTANCE,
                        NetBench::onFault,
                        RpcBounds.DEFAULT),
                new BookieService(store, 1 << 20, SystemClock.INSTANCE, new NetMetrics(new SimpleMeterRegistry())));
        System.out.println("serving on " + server.port());
        Thread.currentThread().join();
    }

    private static void run(int port, int entryBytes, int inFlight, int warmSeconds, int seconds, long perSecond)
            throws Exception {
        RpcLoops loops = RpcLoops.start("client", 1);
        try (RemoteBookieClient client = new RemoteBookieClient(BookieClientOptions.of(new RpcClientOptions(
                () -> new RpcIdentity(RpcRole.BROKER, 1, 1, CLUSTER),
                loops,
                SystemClock.INSTANCE,
                SystemRandomness.INSTANCE,
                NetBench::onFault,
                RpcBounds.DEFAULT)))) {
            Owner owner = new Owner(entryBytes, inFlight, perSecond);
            long segment = System.currentTimeMillis();
            owner.stream = client.openAppend(
                    new BookieAddress(new BookieId(BOOKIE), "localhost", port),
                    new PartitionId(new TopicId(1, segment), 0),
                    new SegmentId(segment),
                    1,
                    0,
                    0,
                    owner);
            owner.run(warmSeconds);
            owner.latencies.reset();
            long before = owner.durable.get();
            owner.run(seconds);
            double rate = (owner.durable.get() - before) / (double) seconds;
            System.out.printf(
                    "append size=%d window=%d entries/s=%.0f MB/s=%.1f p50=%.2fms p99=%.2fms p99.9=%.2fms max=%.1fms%n",
                    entryBytes,
                    inFlight,
                    rate,
                    rate * entryBytes / 1e6,
                    owner.latencies.getValueAtPercentile(50) / 1e6,
                    owner.latencies.getValueAtPercentile(99) / 1e6,
                    owner.latencies.getValueAtPercentile(99.9) / 1e6,
                    owner.latencies.getMaxValue() / 1e6);
            owner.stream.close();
        }
        loops.close();
    }

    /** Appends as fast as the window and the rate let it. */
    private static final class Owner implements AppendListener {
        final ConcurrentHistogram latencies = new ConcurrentHistogram(3);
        final AtomicLong durable = new AtomicLong();
        private final byte[] content;
        private final int inFlight;
        private final long perSecond;
        private final Semaphore window;
        private final long[] sentNs;
        private AppendStream stream;
        private long next;

        Owner(int entryBytes, int inFlight, long perSecond) {
            this.content = new byte[entryBytes];
            new SplittableRandom(1).nextBytes(content);
            this.inFlight = inFlight;
            this.perSecond = perSecond;
            this.window = new Semaphore(inFlight);
            this.sentNs = new long[Integer.highestOneBit(inFlight) * 2];
        }

        void run(int seconds) {
            long startNs = System.nanoTime();
            long untilNs = startNs + seconds * 1_000_000_000L;
            for (long count = 0; System.nanoTime() < untilNs; count++) {
                awaitDue(startNs, count);
                window.acquireUninterruptibly();
                long offset = next++;
                int crc = EntryFormat.checksum(offset, offset, ByteBuffer.wrap(content));
                ByteBuf payload = Unpooled.wrappedBuffer(content);
                sentNs[(int) (offset & (sentNs.length - 1))] = System.nanoTime();
                stream.append(offset, offset, crc, payload, 0);
            }
            window.acquireUninterruptibly(inFlight);
            window.release(inFlight);
        }

        private void awaitDue(long startNs, long count) {
            if (perSecond == Long.MAX_VALUE) {
                return;
            }
            long dueNs = startNs + count * 1_000_000_000L / perSecond;
            for (long leftNs = dueNs - System.nanoTime(); leftNs > 0; leftNs = dueNs - System.nanoTime()) {
                LockSupport.parkNanos(leftNs);
            }
        }

        @Override
        public void onDurable(long durableEnd) {
            long nowNs = System.nanoTime();
            long from = durable.get();
            for (long offset = from; offset < durableEnd; offset++) {
                latencies.recordValue(nowNs - sentNs[(int) (offset & (sentNs.length - 1))]);
            }
            durable.lazySet(durableEnd);
            window.release((int) (durableEnd - from));
        }

        @Override
        public void onFailed(BookieStatus status, long replicaEnd) {
            onFault("append", new IllegalStateException("the stream failed: " + status + " " + replicaEnd));
        }
    }
}
