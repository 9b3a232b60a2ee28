package io.varve.bookie.store;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieStatus;
import java.util.SplittableRandom;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.HdrHistogram.Histogram;

/**
 * Appends round-robin to many segments from one thread, so many bytes in flight. Each segment has one callback, as a connection's append stream is one. Segments end
 * and are deleted after their share of {@code heldBytes}, not all at once, so that the journal's files are used again as they are in a bookie that has run for a while.
 */
final class BenchLoad implements AutoCloseable {

    static final int IN_FLIGHT_BYTES = 16 * 1024 * 1024;

    private final LocalSegmentStore store;
    private final int entryBytes;
    private final Stream[] streams;
    private final long rollEntries;
    private final ByteBuf content;
    private final AtomicLong acknowledged = new AtomicLong();
    private final Histogram latencies = new Histogram(3);
    private long submitted;
    private long nextId = 1;

    BenchLoad(LocalSegmentStore store, int entryBytes, int segments, long heldBytes) {
        this.store = store;
        this.entryBytes = entryBytes;
        this.streams = new Stream[segments];
        this.rollEntries = Math.max(2, heldBytes / segments / entryBytes);
        byte[] random = new byte[entryBytes];
        new SplittableRandom(1).nextBytes(random);
        content = PooledByteBufAllocator.DEFAULT.directBuffer(entryBytes).writeBytes(random);
        Semaphore created = new Semaphore(0);
        for (int at = 0; at < segments; at++) {
            streams[at] = new Stream(at, Math.max(1, rollEntries * (at + 1) / segments));
            streams[at].create(created);
        }
        created.acquireUninterruptibly(segments);
    }

    /** One segment. Its ends are told on the journal's thread. */
    private final class Stream implements SegmentStore.AppendCallback {
        final SegmentId id = new SegmentId(nextId++);
        final PartitionId partition;
        final long entriesMax;
        long next;
        private long acknowledgedEnd;
        /** One entry at a time is watched: 0 if none is. */
        private volatile long watchedSinceNs;

        private volatile long watchedEnd;

        Stream(int partition, long entriesMax) {
            this.partition = new PartitionId(new TopicId(1, 1), partition);
            this.entriesMax = entriesMax;
        }

        void create(Semaphore created) {
            store.createSegment(partition, id, 1, 0, 0, (status, end, where) -> created.release());
        }

        /** @param sinceNs from when its latency counts */
        void append(long sinceNs) {
            long offset = next++;
            ByteBuf payload = content.retainedDuplicate();
            int crc = EntryChecks.checksum(offset, offset, payload);
            if (watchedSinceNs == 0) {
                watchedEnd = offset + 1;
                watchedSinceNs = sinceNs;
            }
            store.append(id, 1, offset, offset, crc, payload, 0, this);
        }

        @Override
        public void onAppended(BookieStatus status, long end) {
            if (status != BookieStatus.OK) {
                throw new IllegalStateException("append: " + status);
            }
            if (watchedSinceNs != 0 && end >= watchedEnd) {
                latencies.recordValue(System.nanoTime() - watchedSinceNs);
                watchedSinceNs = 0;
            }
            acknowledged.lazySet(acknowledged.get() + end - acknowledgedEnd);
            acknowledgedEnd = end;
        }
    }

    /**
     * Runs for so many seconds, at most so many entries a second, and waits for the last acknowledgement. At a given rate, latencies count from when each append was
     * due: a stall shows in all that it made late.
     */
    void run(int forSeconds, long perSecond) {
        long startNs = System.nanoTime();
        long untilNs = startNs + forSeconds * 1_000_000_000L;
        long inFlightMax = IN_FLIGHT_BYTES / entryBytes;
        for (long count = 0; System.nanoTime() < untilNs; count++) {
            awaitInFlight(inFlightMax - 1);
            boolean isPaced = perSecond != Long.MAX_VALUE;
            long sinceNs = isPaced ? BareDisk.awaitDue(startNs, count, perSecond) : System.nanoTime();
            appendTo((int) (submitted % streams.length), sinceNs);
            submitted++;
        }
        awaitInFlight(0);
    }

    /** Appends so many bytes to the first segment. */
    void fill(long bytes) {
        for (long left = bytes / entryBytes; left > 0; left--) {
            awaitInFlight(IN_FLIGHT_BYTES / entryBytes - 1);
            appendTo(0, System.nanoTime());
            submitted++;
        }
        awaitInFlight(0);
    }

    private void awaitInFlight(long atMost) {
        while (submitted - acknowledged.get() > atMost) {
            LockSupport.parkNanos(20_000);
        }
    }

    private void appendTo(int at, long sinceNs) {
        Stream stream = streams[at];
        if (stream.next == stream.entriesMax) {
            store.delete(stream.id, 0);
            stream = new Stream(at, rollEntries);
            stream.create(new Semaphore(0));
            streams[at] = stream;
        }
        stream.append(sinceNs);
    }

    /** Deletes all segments, and waits until that is durable. */
    void deleteAll() {
        for (Stream stream : streams) {
            store.delete(stream.id, 0).join();
        }
    }

    /** Bytes acknowledged so far, without headers. */
    long bytes() {
        return acknowledged.get() * entryBytes;
    }

    /** Latencies since the last call; nothing may be in flight. */
    Histogram takeLatencies() {
        Histogram taken = latencies.copy();
        latencies.reset();
        return taken;
    }

    @Override
    public void close() {
        content.release();
    }
}
