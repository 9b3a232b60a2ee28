package io.varve.bookie.store;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.PooledByteBufAllocator;
import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.client.BookieClient.FenceReply;
import io.varve.bookie.client.BookieClient.FenceRequest;
import io.varve.bookie.client.BookieClient.ReadPriority;
import io.varve.bookie.client.BookieClient.ReadReply;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.core.RecoveryRule;
import io.varve.bookie.disk.Disk;
import io.varve.bookie.disk.FileDisk;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.runtime.SystemRandomness;
import io.varve.protocol.storage.EntryFormat;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;

/** A store on real directories, and short ways to ask it things and wait for the answer. */
final class StoreFixture implements AutoCloseable {

    static final PartitionId PARTITION = new PartitionId(new TopicId(1, 2), 3);
    static final Clock CLOCK = new Clock() {
        @Override
        public long nanoTime() {
            return System.nanoTime();
        }

        @Override
        public long wallTimeMs() {
            return System.currentTimeMillis();
        }
    };

    final List<Throwable> faults = new CopyOnWriteArrayList<>();
    final List<String> events = new CopyOnWriteArrayList<>();
    final LocalSegmentStore store;

    StoreFixture(StoreOptions options) {
        store = LocalSegmentStore.open(
                options,
                CLOCK,
                SystemRandomness.INSTANCE,
                (where, fault) -> faults.add(fault),
                new Recorder(),
                new SimpleMeterRegistry());
    }

    /** On the same real files, with somebody who listens to what a start decides. */
    StoreFixture(StoreOptions options, RecoveryRule rule) throws IOException {
        List<Disk> disks = new ArrayList<>();
        boolean opened = false;
        try {
            for (Path path : options.directories()) {
                disks.add(FileDisk.open(path));
            }
            store = LocalSegmentStore.open(
                    options,
                    disks,
                    new StoreEnvironment(
                            CLOCK,
                            SystemRandomness.INSTANCE,
                            (where, fault) -> faults.add(fault),
                            new Recorder(),
                            new SimpleMeterRegistry(),
                            rule,
                            directory -> new DirectoryRunner(directory, (where, fault) -> faults.add(fault))));
            opened = true;
        } finally {
            if (!opened) {
                for (Disk disk : disks) {
                    disk.close();
                }
            }
        }
    }

    static StoreFixture open(Path... directories) {
        return new StoreFixture(options(directories));
    }

    /** Small numbers, so that files fill and roll. */
    static StoreOptions options(Path... directories) {
        return new StoreOptions(
                "test-cluster",
                new BookieId(7),
                List.of(directories),
                1024 * 1024,
                true,
                256 * 1024,
                8 * 1024 * 1024,
                1024 * 1024,
                8 * 1024,
                512 * 1024,
                4 * 1024 * 1024,
                4 * 1024 * 1024,
                4 * 1024 * 1024,
                1024L * 1024 * 1024,
                0,
                1024 * 1024,
                2 * 1024 * 1024);
    }

    private final class Recorder implements StoreListener {
        @Override
        public void onReplicaDamaged(SegmentId segment, long incarnation, String why) {
            events.add("damaged " + segment);
        }

        @Override
        public void onDirectoryLost(long incarnation, String why) {
            events.add("directory lost");
        }

        @Override
        public void onReadOnlyChanged(boolean readOnly) {
            events.add("read-only " + readOnly);
        }
    }

    /** An answer to a create or an append. */
    record Answer(BookieStatus status, long end) {}

    static <T> T await(CompletableFuture<T> future) {
        try {
            return future.get(20, TimeUnit.SECONDS);
        } catch (Exception trouble) {
            throw new AssertionError(trouble);
        }
    }

    Answer create(long segment, int epoch, long startOffset) {
        return create(segment, epoch, startOffset, 0);
    }

    Answer create(long segment, int epoch, long startOffset, long incarnation) {
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        store.createSegment(
                PARTITION,
                new SegmentId(segment),
                epoch,
                startOffset,
                incarnation,
                (status, end, where) -> answer.complete(new Answer(status, end)));
        return await(answer);
    }

    CompletableFuture<Answer> appendLater(long segment, int epoch, long offset, int records, int bytes) {
        ByteBuf payload = payload(segment, offset, bytes);
        int crc = EntryChecks.checksum(offset, offset + records - 1, payload);
        CompletableFuture<Answer> answer = new CompletableFuture<>();
        store.append(
                new SegmentId(segment),
                epoch,
                offset,
                offset + records - 1,
                crc,
                payload,
                offset,
                (status, end) -> answer.complete(new Answer(status, end)));
        return answer;
    }

    Answer append(long segment, int epoch, long offset, int records, int bytes) {
        return await(appendLater(segment, epoch, offset, records, bytes));
    }

    /** What the entry at that offset holds, whoever asks. */
    static ByteBuf payload(long segment, long offset, int bytes) {
        ByteBuffer content = ByteBuffer.allocate(bytes);
        SplittableRandom random = new SplittableRandom(segment * 1_000_003 + offset);
        while (content.remaining() >= 8) {
            content.putLong(random.nextLong());
        }
        ByteBuf payload = PooledByteBufAllocator.DEFAULT.directBuffer(Math.max(1, bytes));
        payload.writeBytes(content.array());
        return payload;
    }

    static SegmentDescriptor sealed(long segment, int epoch, long start, long end) {
        return sealed(segment, PARTITION, epoch, start, end);
    }

    /** What the metadata service would say of it. */
    static SegmentDescriptor sealed(long segment, PartitionId partition, int epoch, long start, long end) {
        return new SegmentDescriptor(
                new SegmentId(segment),
                partition,
                epoch,
                SegmentDescriptor.State.SEALED,
                start,
                end,
                2,
                List.of(),
                List.of(),
                -1,
                -1,
                0,
                0,
                Optional.empty());
    }

    FenceReply fence(long segment, int epoch) {
        return await(store.fence(List.of(new FenceRequest(PARTITION, epoch, new SegmentId(segment), 0))))
                .get(0);
    }

    BookieStatus readStatus(long segment, long offset) {
        ReadReply reply = await(store.read(new SegmentId(segment), offset, 100_000, ReadPriority.TAIL));
        reply.entries().release();
        return reply.status();
    }

    /** Reads everything from {@code offset} on, checks every payload against what {@link #payload} makes, and answers the end. */
    long readAll(long segment, long offset, int bytesAtATime) {
        long next = offset;
        while (true) {
            ReadReply reply = await(store.read(new SegmentId(segment), next, bytesAtATime, ReadPriority.CATCH_UP));
            try {
                if (reply.status() == BookieStatus.BEYOND_END) {
                    return next;
                }
                if (reply.status() != BookieStatus.OK) {
                    throw new AssertionError("read at " + next + ": " + reply.status());
                }
                next = checkEntries(segment, next, reply.entries());
            } finally {
                reply.entries().release();
            }
        }
    }

    static long checkEntries(long segment, long from, ByteBuf entries) {
        ByteBuffer bytes = entries.nioBuffer();
        long next = from;
        for (int at = 0; at < bytes.limit(); ) {
            if (!EntryFormat.isIntact(bytes, at) || EntryFormat.firstOffset(bytes, at) != next) {
                throw new AssertionError("the entry at " + next + " is not what was appended");
            }
            int length = EntryFormat.payloadLength(bytes, at);
            ByteBuf expected = payload(segment, next, length);
            if (!expected.nioBuffer().equals(bytes.slice(at + EntryFormat.HEADER_BYTES, length))) {
                throw new AssertionError("the payload at " + next + " is not what was appended");
            }
            expected.release();
            next = EntryFormat.lastOffset(bytes, at) + 1;
            at += EntryFormat.HEADER_BYTES + length;
        }
        return next;
    }

    List<CompletableFuture<Answer>> appendMany(long segment, int epoch, long from, int entries, int bytes) {
        List<CompletableFuture<Answer>> answers = new ArrayList<>();
        for (int at = 0; at < entries; at++) {
            answers.add(appendLater(segment, epoch, from + at, 1, bytes));
        }
        return answers;
    }

    @Override
    public void close() {
        store.close();
        if (!faults.isEmpty()) {
            throw new AssertionError("a fault", faults.get(0));
        }
    }
}
