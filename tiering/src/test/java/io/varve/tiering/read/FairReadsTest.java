package io.varve.tiering.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.PartitionId;
import io.varve.protocol.runtime.SystemClock;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.cache.BlockMemory;
import io.varve.tiering.cache.CachedBlock;
import io.varve.tiering.cache.ObjectCache;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.core.BlockIndex;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.RangeTarget;
import io.varve.tiering.object.WrappedObjectStore;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Readers of a slow store, stepped: it answers one request after the other in the order that it was asked, which nobody can overtake. Beside one
 * who asks for many blocks at once and far ahead nobody waits for more blocks of others than can be told beforehand.
 */
class FairReadsTest {

    private static final int BLOCK = 2048;
    private static final int CALLS_MAX = 4;
    private static final int RANGE_BLOCKS = 4;
    private static final int SMALL_READERS = 5;
    private static final int SMALL_READS = 12;
    private static final int GREEDY_DEMANDS = 40;
    private static final String KEY = "c/t/7/1.seg";

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final OneByOne store = new OneByOne(memory);
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final ObjectCache cache = new ObjectCache(64 << 20);
    private final ReadSettings settings = new ReadSettings(1, CALLS_MAX, 64 << 20, 1 << 20, 1 << 20, 1 << 20, 0);
    private final BlockFills fills = new BlockFills(
            store,
            cache,
            new BlockMemory(),
            Lz4FrameCompression.INSTANCE,
            settings.callsMax(),
            settings.aheadCallsMax(),
            new ReadRate(
                    settings.bytesPerSecond(),
                    0,
                    SystemClock.INSTANCE,
                    (delayNs, task) -> {
                        throw new AssertionError("there is no rate to wait for");
                    },
                    new SimpleMeterRegistry().counter("held.back")),
            Runnable::run,
            faults);

    private ObjectTail tail;

    @BeforeEach
    void anObjectForEach() throws Exception {
        BuiltObject object =
                BuiltObject.of(TestSegments.chain(4, 400, 500, false), BLOCK, Lz4FrameCompression.INSTANCE);
        tail = object.tail();
        assertThat(tail.index().blocks()).isGreaterThan(GREEDY_DEMANDS + 200);
        for (int reader = 0; reader <= SMALL_READERS; reader++) {
            memory.overwrite(KEY + reader, object.bytes());
        }
    }

    @AfterEach
    void close() {
        fills.close();
        cache.close();
        faults.assertNone();
    }

    @Test
    void nobodyWaitsForMoreThanWhatIsUnderWayAndOneBlockOfEachOther() throws Exception {
        Reader greedy = new Reader(0);
        int end = GREEDY_DEMANDS;
        for (; end + RANGE_BLOCKS <= tail.index().blocks(); end += RANGE_BLOCKS) {
            fills.ahead(greedy.partition, greedy.object, tail, end, end + RANGE_BLOCKS);
        }
        for (int block = 0; block < GREEDY_DEMANDS; block++) {
            greedy.ask(block);
        }
        List<Reader> small = new ArrayList<>();
        for (int number = 1; number <= SMALL_READERS; number++) {
            Reader reader = new Reader(number);
            reader.ask(0);
            small.add(reader);
        }
        int most = 0;
        while (small.stream().anyMatch(reader -> reader.answered < SMALL_READS)) {
            store.answerOne();
            for (Reader reader : small) {
                if (reader.hasAnswer() && reader.answered < SMALL_READS) {
                    most = Math.max(most, reader.takeAnswer());
                    if (reader.answered < SMALL_READS) {
                        reader.ask(reader.answered);
                    }
                }
            }
        }
        int underWay = settings.aheadCallsMax() * RANGE_BLOCKS + (CALLS_MAX - settings.aheadCallsMax());
        assertThat(most).as("blocks of others that one waited for").isLessThanOrEqualTo(underWay + SMALL_READERS);

        // And who asked for so much gets it all.
        while (store.answerOne()) {
            continue;
        }
        assertThat(store.askedAtOnce).isEqualTo(CALLS_MAX);
        assertThat(greedy.asked).hasSize(GREEDY_DEMANDS).allMatch(CompletableFuture::isDone);
        for (CompletableFuture<CachedBlock> block : greedy.asked) {
            block.get(10, TimeUnit.SECONDS).release();
        }
        assertThat(store.blocksAnswered).isEqualTo(end + SMALL_READERS * SMALL_READS);
    }

    /** However far ahead others read, a connection is left for who can't go on. */
    @Test
    void whatIsFetchedAheadNeverTakesAllConnections() {
        Reader greedy = new Reader(0);
        for (int from = 0; from + RANGE_BLOCKS <= 100; from += RANGE_BLOCKS) {
            fills.ahead(greedy.partition, greedy.object, tail, from, from + RANGE_BLOCKS);
        }
        assertThat(store.asked).hasSize(CALLS_MAX - 1);
        Reader small = new Reader(1);
        small.ask(0);
        assertThat(store.asked).hasSize(CALLS_MAX);
        while (!small.hasAnswer()) {
            store.answerOne();
        }
        assertThat(small.takeAnswer()).isEqualTo((CALLS_MAX - 1) * RANGE_BLOCKS);
    }

    /** One reader of a partition, which is what readers are told apart by. */
    private final class Reader {

        private final PartitionId partition;
        private final String object;
        private final List<CompletableFuture<CachedBlock>> asked = new ArrayList<>();
        private int answered;
        private int answeredBefore;

        Reader(int number) {
            this.partition = new PartitionId(TestSegments.PARTITION.topic(), number);
            this.object = KEY + number;
        }

        void ask(int block) {
            answeredBefore = store.blocksAnswered;
            asked.add(fills.demand(partition, object, tail, block));
        }

        boolean hasAnswer() {
            return asked.get(asked.size() - 1).isDone();
        }

        /** @return how many blocks of others came since it was asked for */
        int takeAnswer() {
            asked.get(asked.size() - 1).join().release();
            answered++;
            return store.blocksAnswered - answeredBefore - 1;
        }
    }

    /** Answers in the order of the requests, when told to. */
    private final class OneByOne extends WrappedObjectStore {

        private final ArrayDeque<Runnable> asked = new ArrayDeque<>();
        private int askedAtOnce;
        private int blocksAnswered;

        OneByOne(ObjectStore inner) {
            super(inner);
        }

        @Override
        public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
            RangeTarget.Attempt attempt = into.begin();
            CompletableFuture<Void> done = new CompletableFuture<>();
            asked.add(() -> {
                ByteBuffer bytes = get(key, from, into.length()).join();
                blocksAnswered += blocks(from, into.length());
                attempt.put(bytes);
                done.complete(null);
            });
            askedAtOnce = Math.max(askedAtOnce, asked.size());
            return done;
        }

        boolean answerOne() {
            Runnable oldest = asked.poll();
            if (oldest != null) {
                oldest.run();
            }
            return oldest != null;
        }

        private int blocks(long from, int length) {
            BlockIndex index = tail.index();
            int count = 0;
            for (int block = 0; block < index.blocks(); block++) {
                count += index.position(block) >= from && index.position(block) < from + length ? 1 : 0;
            }
            return count;
        }

        @Override
        protected <T> CompletableFuture<T> around(
                Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
            return call.get();
        }
    }
}
