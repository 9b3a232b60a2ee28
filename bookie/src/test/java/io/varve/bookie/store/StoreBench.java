package io.varve.bookie.store;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.Randomness;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieStatus;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.ConcurrentHistogram;
import org.HdrHistogram.Histogram;

/**
 * One store against its own disk: {@code StoreBench DIR} runs all cases; {@code StoreBench DIR ENTRY_BYTES SEGMENTS SECONDS} one. Beside each, a bare loop on the
 * same disk that writes groups of the same size into a preallocated file and fsyncs each.
 */
public final class StoreBench {

    private static final long MIB = 1024 * 1024;
    private static final int IN_FLIGHT_BYTES = 16 * 1024 * 1024;

    private final Path directory;
    private final int entryBytes;
    private final int segments;
    private final int seconds;

    private StoreBench(Path directory, int entryBytes, int segments, int seconds) {
        this.directory = directory;
        this.entryBytes = entryBytes;
        this.segments = segments;
        this.seconds = seconds;
    }

    public static void main(String[] args) throws Exception {
        Path directory = Path.of(args[0]);
        if (args.length > 3) {
            new StoreBench(directory, Integer.parseInt(args[1]), Integer.parseInt(args[2]), Integer.parseInt(args[3]))
                    .throughput();
            return;
        }
        for (int entryBytes : new int[] {1024, 64 * 1024}) {
            for (int segments : new int[] {1, 100, 10_000}) {
                new StoreBench(directory, entryBytes, segments, 8).throughput();
            }
        }
        new StoreBench(directory, 1024, 100, 10).latency(5000);
    }

    private LocalSegmentStore open() {
        SplittableRandom random = new SplittableRandom();
        return LocalSegmentStore.open(
                // Files small enough to be used again within the run, as they are in a bookie that has run for a while.
                StoreOptions.defaults("bench", new BookieId(1), List.of(directory.resolve("store")))
                        .withJournalFileBytes(64 * MIB),
                StoreFixture.CLOCK,
                new Randomness() {
                    @Override
                    public long nextLong() {
                        return random.nextLong();
                    }

                    @Override
                    public int nextInt(int bound) {
                        return random.nextInt(bound);
                    }
                },
                (where, fault) -> {
                    fault.printStackTrace();
                    Runtime.getRuntime().halt(1);
                },
                StoreListener.NONE,
                new SimpleMeterRegistry());
    }

    private void throughput() throws Exception {
        try (Load load = new Load(open())) {
            load.run(5, Long.MAX_VALUE);
            load.reset();
            long ioBefore = bytesWrittenByTheSystem();
            long cpuBeforeNs = cpuNs();
            long startNs = System.nanoTime();
            load.run(seconds, Long.MAX_VALUE);
            double cpuNs = cpuNs() - cpuBeforeNs;
            double tookSeconds = (System.nanoTime() - startNs) / 1e9;
            long written = bytesWrittenByTheSystem() - ioBefore;
            double rate = load.bytes.get() / tookSeconds;
            double groups = load.groups() / tookSeconds;
            int groupBytes = (int) Math.max(4096, load.bytes.get() / Math.max(1, load.groups()) / 4096 * 4096);
            double bare = bare(groupBytes, seconds);
            System.out.printf(
                    "entry %6d B, %6d segments: %7.1f MiB/s, %8.0f entries/s, %6.0f groups/s of %4d KiB; bare loop %7.1f MiB/s, ratio %.2f; "
                            + "disk bytes per byte %.3f; processor time per entry %.2f us; ack p50 %.2f ms, p99 %.2f ms%n",
                    entryBytes,
                    segments,
                    rate / MIB,
                    rate / entryBytes,
                    groups,
                    groupBytes / 1024,
                    bare / MIB,
                    rate / bare,
                    (double) written / load.bytes.get(),
                    cpuNs / 1000 / (load.bytes.get() / entryBytes),
                    load.latencies.getValueAtPercentile(50) / 1e6,
                    load.latencies.getValueAtPercentile(99) / 1e6);
        }
        delete();
    }

    private void latency(long perSecond) throws Exception {
        try (Load load = new Load(open())) {
            load.run(2, perSecond);
            load.reset();
            load.run(seconds, perSecond);
            Histogram bare = bareLatency(seconds);
            System.out.printf(
                    "entry %6d B, %6d segments at %d entries/s: ack p50 %.2f ms, p99 %.2f ms; bare 4 KiB write and fsync p50 %.2f ms, p99 %.2f ms%n",
                    entryBytes,
                    segments,
                    perSecond,
                    load.latencies.getValueAtPercentile(50) / 1e6,
                    load.latencies.getValueAtPercentile(99) / 1e6,
                    bare.getValueAtPercentile(50) / 1e6,
                    bare.getValueAtPercentile(99) / 1e6);
        }
        delete();
    }

    /** Appends round-robin to all segments, so many bytes in flight. */
    private final class Load implements AutoCloseable {
        final LocalSegmentStore store;
        final AtomicLong bytes = new AtomicLong();
        final ConcurrentHistogram latencies = new ConcurrentHistogram(3);
        private final Semaphore inFlight = new Semaphore(IN_FLIGHT_BYTES / entryBytes);
        private final long[] next = new long[segments];
        private final long[] ids = new long[segments];
        private final long rollEntries = Math.max(16, 128 * MIB / segments / entryBytes);
        private long nextId = 1;
        private final ByteBuf content;
        private long groupsBefore;

        Load(LocalSegmentStore store) {
            this.store = store;
            byte[] random = new byte[entryBytes];
            new SplittableRandom(1).nextBytes(random);
            content = PooledByteBufAllocator.DEFAULT.directBuffer(entryBytes).writeBytes(random);
            Semaphore created = new Semaphore(0);
            for (int at = 0; at < segments; at++) {
                create(at, created);
            }
            created.acquireUninterruptibly(segments);
        }

        private void create(int segment, Semaphore created) {
            ids[segment] = nextId++;
            next[segment] = 0;
            store.createSegment(
                    new PartitionId(new TopicId(1, 1), segment),
                    new SegmentId(ids[segment]),
                    1,
                    0,
                    0,
                    (status, end, where) -> created.release());
        }

        void run(int forSeconds, long perSecond) {
            long startNs = System.nanoTime();
            long untilNs = startNs + forSeconds * 1_000_000_000L;
            int segment = 0;
            for (long count = 0; System.nanoTime() < untilNs; count++) {
                if (perSecond != Long.MAX_VALUE) {
                    long dueNs = startNs + count * 1_000_000_000L / perSecond;
                    while (System.nanoTime() < dueNs) {
                        LockSupport.parkNanos(dueNs - System.nanoTime());
                    }
                }
                inFlight.acquireUninterruptibly();
                append(segment);
                segment = segment + 1 == segments ? 0 : segment + 1;
            }
            inFlight.acquireUninterruptibly(IN_FLIGHT_BYTES / entryBytes);
            inFlight.release(IN_FLIGHT_BYTES / entryBytes);
        }

        private void append(int segment) {
            if (next[segment] == rollEntries) {
                // As if it was offloaded: journal files are used again, as they are in a bookie that has run for a
                // while.
                store.delete(new SegmentId(ids[segment]), 0);
                create(segment, new Semaphore(0));
            }
            long offset = next[segment]++;
            long sentNs = System.nanoTime();
            ByteBuf payload = content.retainedDuplicate();
            int crc = EntryChecks.checksum(offset, offset, payload);
            store.append(new SegmentId(ids[segment]), 1, offset, offset, crc, payload, 0, (status, end) -> {
                if (status != BookieStatus.OK) {
                    throw new IllegalStateException("append: " + status);
                }
                latencies.recordValue(System.nanoTime() - sentNs);
                bytes.addAndGet(entryBytes);
                inFlight.release();
            });
        }

        void reset() {
            bytes.set(0);
            latencies.reset();
            groupsBefore = store.groupsWritten();
        }

        long groups() {
            return store.groupsWritten() - groupsBefore;
        }

        @Override
        public void close() {
            store.close();
            content.release();
        }
    }

    private double bare(int groupBytes, int forSeconds) throws IOException {
        return loop(groupBytes, forSeconds, new Histogram(3));
    }

    private Histogram bareLatency(int forSeconds) throws IOException {
        Histogram latencies = new Histogram(3);
        loop(4096, forSeconds, latencies);
        return latencies;
    }

    /** Writes and fsyncs groups into a file of zeros, over and over; bytes per second. */
    private double loop(int groupBytes, int forSeconds, Histogram latencies) throws IOException {
        Path path = directory.resolve("bare");
        long fileBytes = 256 * MIB;
        try (FileChannel file = FileChannel.open(
                path, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING)) {
            ByteBuffer zeros = ByteBuffer.allocateDirect((int) MIB);
            for (long at = 0; at < fileBytes; at += MIB) {
                file.write(zeros.clear(), at);
            }
            file.force(true);
            byte[] random = new byte[groupBytes];
            new SplittableRandom(2).nextBytes(random);
            ByteBuffer group = ByteBuffer.allocateDirect(groupBytes).put(random);
            long bytes = 0;
            long at = 0;
            long startNs = System.nanoTime();
            long untilNs = startNs + forSeconds * 1_000_000_000L;
            while (System.nanoTime() < untilNs) {
                long beginNs = System.nanoTime();
                file.write(group.flip().limit(groupBytes), at);
                file.force(false);
                latencies.recordValue(System.nanoTime() - beginNs);
                bytes += groupBytes;
                at = at + 2L * groupBytes > fileBytes ? 0 : at + groupBytes;
            }
            return bytes / ((System.nanoTime() - startNs) / 1e9);
        } finally {
            Files.deleteIfExists(path);
        }
    }

    /** What the whole process has used so far; unlike the rest, hardly changed by what else runs on the machine. */
    private static long cpuNs() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getProcessCpuTime();
    }

    private static long bytesWrittenByTheSystem() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/io"))) {
            if (line.startsWith("write_bytes: ")) {
                return Long.parseLong(line.substring("write_bytes: ".length()));
            }
        }
        return 0;
    }

    private void delete() throws IOException {
        try (var files = Files.walk(directory.resolve("store"))) {
            for (Path path : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }
}
