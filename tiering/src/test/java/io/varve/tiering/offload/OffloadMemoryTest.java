package io.varve.tiering.offload;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.protocol.runtime.SystemClock;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.WrappedObjectStore;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What an offload needs of the heap is next to nothing beside what it moves: blocks and parts there would each be larger than half of a collector's region,
 * and stop a bookie again and again.
 */
class OffloadMemoryTest {

    private static final int MIB = 1 << 20;
    private static final int ENTRIES = 64;
    private static final int ENTRY_BYTES = 600_000;

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anOffloadAllocatesAFewHundredthsOfWhatItMoves(boolean compressible) throws Exception {
        TestSegments.Segment segment = TestSegments.segment(1, 0, ENTRIES, ENTRY_BYTES, compressible);
        RecordingFaultHandler faults = new RecordingFaultHandler();
        ExecutorService elsewhere = Executors.newSingleThreadExecutor();
        try (OffloadWorker worker = new OffloadWorker(
                new Elsewhere(new MemoryObjectStore(), elsewhere),
                TestSegments.CLUSTER,
                new UploadSettings(1, 2, 5 * MIB, 2, MIB, true, 0),
                SystemClock.INSTANCE,
                new SimpleMeterRegistry(),
                faults)) {
            offload(worker, 1, segment);
            long before = allocatedByWorkers();
            offload(worker, 2, segment);
            long allocated = allocatedByWorkers() - before;
            assertThat(allocated).as("bytes on the heap").isPositive().isLessThan(ENTRIES * ENTRY_BYTES / 30);
        } finally {
            elsewhere.shutdownNow();
        }
        faults.assertNone();
    }

    private static void offload(OffloadWorker worker, long attempt, TestSegments.Segment segment) throws Exception {
        worker.offload(
                        new Offloader.OffloadAttempt(attempt, "orders", TestSegments.PARTITION),
                        List.of(new EntryByEntry(segment)))
                .get(60, TimeUnit.SECONDS);
    }

    private static long allocatedByWorkers() {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        return Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                .filter(thread -> thread != null && thread.getThreadName().startsWith("varve-offload-"))
                .mapToLong(thread -> threads.getThreadAllocatedBytes(thread.getThreadId()))
                .sum();
    }

    /** What a store does is done by threads of its own, and counts for itself. */
    private static final class Elsewhere extends WrappedObjectStore {

        private final Executor threads;

        Elsewhere(ObjectStore inner, Executor threads) {
            super(inner);
            this.threads = threads;
        }

        @Override
        protected <T> CompletableFuture<T> around(
                Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
            return CompletableFuture.supplyAsync(call, threads).thenCompose(answer -> answer);
        }
    }

    /** Hands out what is there, which is how a bookie's disk is read: from memory that isn't the heap's. */
    private record EntryByEntry(TestSegments.Segment of, int[] at) implements SealedSegmentSource {

        EntryByEntry(TestSegments.Segment of) {
            this(of, new int[1]);
        }

        @Override
        public SegmentDescriptor segment() {
            return of.descriptor();
        }

        @Override
        public Optional<ByteBuffer> next(int maxBytes) {
            return at[0] == of.entries().size()
                    ? Optional.empty()
                    : Optional.of(of.entries().get(at[0]++).duplicate());
        }

        @Override
        public Optional<Checkpoint> lastCheckpoint() {
            return Optional.empty();
        }

        @Override
        public void close() {}
    }
}
