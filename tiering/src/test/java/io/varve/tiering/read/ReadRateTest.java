package io.varve.tiering.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.sim.RecordingFaultHandler;
import io.varve.sim.SimScheduler;
import io.varve.tiering.cache.BlockMemory;
import io.varve.tiering.cache.CachedBlock;
import io.varve.tiering.cache.ObjectCache;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.RangeTarget;
import io.varve.tiering.object.WrappedObjectStore;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Blocks of a store that answers at once, stepped: they come no faster than the rate, and all of them come. */
class ReadRateTest {

    private static final int BLOCK = 2048;
    private static final int RANGE_BLOCKS = 4;
    private static final int WAITED_FOR = 60;
    private static final int AHEAD = 80;
    private static final long BYTES_PER_SECOND = 100_000;
    private static final long BURST_BYTES = 10_000;
    private static final String KEY = "c/t/7/1.seg";

    private final SimScheduler scheduler = new SimScheduler(1);
    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final Counting store = new Counting(memory);
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final ObjectCache cache = new ObjectCache(64 << 20);
    private final Counter heldBackSeconds = new SimpleMeterRegistry().counter("held.back.seconds");
    private final List<CompletableFuture<CachedBlock>> asked = new ArrayList<>();
    private ObjectTail tail;

    @BeforeEach
    void anObject() throws Exception {
        BuiltObject object =
                BuiltObject.of(TestSegments.chain(4, 400, 500, false), BLOCK, Lz4FrameCompression.INSTANCE);
        tail = object.tail();
        assertThat(tail.index().blocks()).isGreaterThan(WAITED_FOR + AHEAD);
        memory.overwrite(KEY, object.bytes());
    }

    @AfterEach
    void close() {
        asked.forEach(block -> block.thenAccept(CachedBlock::release));
        cache.close();
        faults.assertNone();
    }

    @Test
    void blocksComeAtTheRateThoseFirstThatSomebodyWaitsFor() {
        BlockFills fills = fills(BYTES_PER_SECOND);
        long startNs = scheduler.nanoTime();
        askForAll(fills);
        long runBytesMax = bytes(0, tail.index().blocks()) / tail.index().blocks() * 2 * RANGE_BLOCKS;
        do {
            long earned = (long) ((scheduler.nanoTime() - startNs) / 1e9 * BYTES_PER_SECOND);
            assertThat(store.bytes).isLessThanOrEqualTo(BURST_BYTES + earned + runBytesMax);
            assertThat(store.bytes > bytes(0, WAITED_FOR) && waiting() > 0)
                    .as("something is fetched ahead while somebody waits")
                    .isFalse();
        } while (scheduler.step());

        assertThat(waiting()).isZero();
        assertThat(store.bytes).isEqualTo(bytes(0, WAITED_FOR + AHEAD));
        double tookSeconds = (scheduler.nanoTime() - startNs) / 1e9;
        assertThat(tookSeconds)
                .isGreaterThan((double) (store.bytes - BURST_BYTES - runBytesMax) / BYTES_PER_SECOND)
                .isLessThan((double) store.bytes / BYTES_PER_SECOND);
        assertThat(heldBackSeconds.count()).isCloseTo(tookSeconds, within(0.01));
    }

    @Test
    void withoutARateNothingWaits() {
        askForAll(fills(0));
        assertThat(waiting()).isZero();
        assertThat(store.bytes).isEqualTo(bytes(0, WAITED_FOR + AHEAD));
        assertThat(scheduler.step()).isFalse();
        assertThat(heldBackSeconds.count()).isZero();
    }

    /** Who waits for its turn is told, and the time that was waited for begins nothing any more. */
    @Test
    void whatIsHeldBackEndsWithTheReader() {
        BlockFills fills = fills(BYTES_PER_SECOND);
        askForAll(fills);
        long before = store.bytes;
        fills.close();
        assertThat(waiting()).isZero();
        assertThat(asked.get(WAITED_FOR - 1)).isCompletedExceptionally();
        while (scheduler.step()) {
            continue;
        }
        assertThat(store.bytes).isEqualTo(before);
    }

    private BlockFills fills(long bytesPerSecond) {
        return new BlockFills(
                store,
                cache,
                new BlockMemory(),
                Lz4FrameCompression.INSTANCE,
                4,
                3,
                new ReadRate(bytesPerSecond, BURST_BYTES, scheduler, scheduler::schedule, heldBackSeconds),
                Runnable::run,
                faults);
    }

    private void askForAll(BlockFills fills) {
        for (int block = 0; block < WAITED_FOR; block++) {
            asked.add(fills.demand(TestSegments.PARTITION, KEY, tail, block));
        }
        for (int from = WAITED_FOR; from < WAITED_FOR + AHEAD; from += RANGE_BLOCKS) {
            fills.ahead(TestSegments.PARTITION, KEY, tail, from, from + RANGE_BLOCKS);
        }
    }

    private long waiting() {
        return asked.stream().filter(block -> !block.isDone()).count();
    }

    private long bytes(int from, int end) {
        long sum = 0;
        for (int block = from; block < end; block++) {
            sum += tail.index().storedBytes(block);
        }
        return sum;
    }

    /** Answers at once, and counts. */
    private static final class Counting extends WrappedObjectStore {

        private long bytes;

        Counting(ObjectStore inner) {
            super(inner);
        }

        @Override
        public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
            bytes += into.length();
            into.begin().put(get(key, from, into.length()).join());
            return CompletableFuture.completedFuture(null);
        }

        @Override
        protected <T> CompletableFuture<T> around(
                Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
            return call.get();
        }
    }
}
