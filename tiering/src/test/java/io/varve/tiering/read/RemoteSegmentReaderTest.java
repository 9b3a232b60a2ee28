package io.varve.tiering.read;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.InvariantViolation;
import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectRef;
import io.varve.protocol.runtime.SystemClock;
import io.varve.protocol.storage.EntryFormat;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.RemoteSegments.RemoteEntries;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.object.RangeTarget;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.object.WrappedObjectStore;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Reads give what was written or say what is wrong, and ask the store for no more than they must. */
class RemoteSegmentReaderTest {

    private static final String KEY = "c/t/7/1.seg";
    private static final PartitionId PARTITION = TestSegments.PARTITION;
    private static final int BLOCK = 8 * 1024;

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private boolean isBroken;
    private BuiltObject object;
    private ObjectRef ref;
    private RemoteSegmentReader reader;

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private boolean isNamed = true;

    @BeforeEach
    void writeAnObject() throws Exception {
        object = BuiltObject.of(TestSegments.chain(3, 200, 500, true), BLOCK, Lz4FrameCompression.INSTANCE);
        memory.overwrite(KEY, object.bytes());
        ref = ref(object);
        reader = reader(4L << 20);
    }

    @AfterEach
    void close() {
        reader.close();
        if (!isBroken) {
            faults.assertNone();
        }
    }

    @Test
    void aSequentialReaderGetsEveryEntryOnce() throws Exception {
        List<ByteBuffer> got = new ArrayList<>();
        for (long at = 0; at < ref.endOffset(); ) {
            RemoteEntries read = get(reader.read(ref, PARTITION, at, 3000));
            at = read.nextOffset();
            List<ByteBuffer> entries = entries(read);
            assertThat(entries).isNotEmpty();
            got.addAll(entries);
        }
        assertThat(got)
                .isEqualTo(object.segments().stream()
                        .flatMap(s -> s.entries().stream())
                        .toList());
    }

    @Test
    void theEntryThatHoldsTheOffsetComesFirstAndAlways() throws Exception {
        ByteBuffer entry = object.segments().get(1).entries().get(50);
        long inside = EntryFormat.lastOffset(entry, 0);
        RemoteEntries read = get(reader.read(ref, PARTITION, inside, 1));
        assertThat(read.nextOffset()).isEqualTo(inside + 1);
        assertThat(entries(read)).containsExactly(entry);
    }

    @Test
    void aColdReadCostsTwoGetsAndAWarmOneNone() throws Exception {
        drop(reader.read(ref, PARTITION, 100, 1000));
        assertThat(store.calls(Verb.GET)).isEqualTo(2);
        drop(reader.read(ref, PARTITION, 100, 1000));
        assertThat(store.calls(Verb.GET)).isEqualTo(2);
        assertThat(store.calls(Verb.HEAD) + store.calls(Verb.LIST)).isZero();
    }

    @Test
    void readersOfOneBlockShareOneFill() throws Exception {
        drop(reader.read(ref, PARTITION, 0, 1));
        store.always(Verb.GET, new Fault.Hold());
        long last = ref.endOffset() - 1;
        List<CompletableFuture<RemoteEntries>> reads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            reads.add(reader.read(ref, PARTITION, last, 1));
        }
        awaitHeld();
        store.mend();
        store.release();
        for (CompletableFuture<RemoteEntries> read : reads) {
            assertThat(entries(get(read))).hasSize(1);
        }
        assertThat(store.calls(Verb.GET)).as("the tail, two blocks").isEqualTo(3);
    }

    /** S13: a fetch whose wait is shorter than the store's first byte must not begin anew each time. */
    @Test
    void aFillGoesOnWhenTheReaderNoLongerWaits() throws Exception {
        drop(reader.read(ref, PARTITION, 0, 1));
        store.once(Verb.GET, new Fault.Hold());
        long last = ref.endOffset() - 1;
        CompletableFuture<RemoteEntries> impatient = reader.read(ref, PARTITION, last, 1);
        awaitHeld();
        impatient.cancel(true);
        long before = store.calls(Verb.GET);
        store.release();
        assertThat(entries(get(reader.read(ref, PARTITION, last, 1)))).hasSize(1);
        assertThat(store.calls(Verb.GET)).isEqualTo(before);
    }

    @Test
    void aSequentialReaderNeedsFarFewerGetsThanBlocks() throws Exception {
        for (long at = 0; at < ref.endOffset(); ) {
            at = drop(reader.read(ref, PARTITION, at, BLOCK));
        }
        int blocks = object.tail().index().blocks();
        assertThat(blocks).isGreaterThan(30);
        assertThat(store.calls(Verb.GET)).isLessThan(blocks / 3);
    }

    @Test
    void timesAreFoundAcrossTheObject() throws Exception {
        ByteBuffer entry = object.segments().get(2).entries().get(10);
        long timestampMs = entry.getLong(EntryFormat.HEADER_BYTES + 35);
        long found = get(reader.entryForTimestamp(ref, PARTITION, timestampMs)).orElseThrow();
        assertThat(found).isLessThanOrEqualTo(EntryFormat.firstOffset(entry, 0));
        assertThat(get(reader.entryForTimestamp(ref, PARTITION, 0))).hasValue(0L);
        assertThat(get(reader.entryForTimestamp(ref, PARTITION, ref.maxTimestampMs())))
                .isPresent();
        assertThat(get(reader.entryForTimestamp(ref, PARTITION, ref.maxTimestampMs() + 1)))
                .isEmpty();
    }

    @Test
    void checkpointsOfEverySegmentAreKept() throws Exception {
        long second = object.segments().get(1).descriptor().startOffset();
        assertThat(get(reader.checkpoint(ref, PARTITION, second + 5))).hasValueSatisfying(c -> {
            assertThat(c.offset()).isEqualTo(second);
            assertThat(c.state().getLong(0)).isEqualTo(2);
        });
    }

    @Test
    void everyTroubleIsToldByItsKindAndNeverByEmptyData() {
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.THROTTLED));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.UNAVAILABLE);
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.FORBIDDEN));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.FORBIDDEN);
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.NOT_FOUND));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.MISSING);
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.NO_BUCKET));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.UNAVAILABLE);
        // A store that doesn't take the request has said nothing of the object.
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.REFUSED));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.UNAVAILABLE);
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.TRUNCATED));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.CORRUPT);
        memory.overwrite(KEY, java.util.Arrays.copyOf(object.bytes(), object.bytes().length - 1));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.CORRUPT);
        memory.overwrite(KEY, object.withVersion(2, 0).bytes());
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.UNSUPPORTED_VERSION);
    }

    @Test
    void aDamagedBlockIsTroubleOfItsOwnReadersOnlyAndPassesWithIt() throws Exception {
        drop(reader.read(ref, PARTITION, 0, 1));
        store.once(Verb.GET, new Fault.Flip(10));
        assertTold(reader.read(ref, PARTITION, ref.endOffset() - 1, 1), Kind.CORRUPT);
        assertThat(entries(get(reader.read(ref, PARTITION, 0, 1)))).hasSize(1);
        assertThat(entries(get(reader.read(ref, PARTITION, ref.endOffset() - 1, 1))))
                .hasSize(1);
    }

    /** Who looks at the figures an hour later must still see it; and not when it is over. */
    @Test
    void whatCannotBeReadIsCountedUntilItIsReadOrNothingNamesIt() throws Exception {
        drop(reader.read(ref, PARTITION, 0, 1));
        store.once(Verb.GET, new Fault.Flip(10));
        assertTold(reader.read(ref, PARTITION, ref.endOffset() - 1, 1), Kind.CORRUPT);
        assertThat(unreadable("corrupt")).isEqualTo(1);
        drop(reader.read(ref, PARTITION, 0, 1));
        assertThat(unreadable("corrupt")).as("another block").isEqualTo(1);
        isNamed = false;
        assertThat(unreadable("corrupt")).as("nothing names it any longer").isZero();
        isNamed = true;
        drop(reader.read(ref, PARTITION, ref.endOffset() - 1, 1));
        assertThat(unreadable("corrupt")).isZero();

        ObjectRef gone = new ObjectRef("gone", 1, 1_000, 1, 0, 10, -1);
        assertTold(reader.read(gone, PARTITION, 0, 1), Kind.MISSING);
        assertTold(reader.read(gone, PARTITION, 5, 1), Kind.MISSING);
        assertThat(unreadable("missing")).isEqualTo(1);
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.TIMED_OUT));
        assertTold(reader.read(gone, PARTITION, 0, 1), Kind.UNAVAILABLE);
        assertThat(unreadable("missing")).as("nobody said that it is there").isEqualTo(1);
        assertThat(registry.find("varve.tiering.unreadable.objects").gauges())
                .as("a store that is away says nothing of objects")
                .noneMatch(gauge -> "unavailable".equals(gauge.getId().getTag("kind")));
    }

    private double unreadable(String kind) {
        return registry.get("varve.tiering.unreadable.objects")
                .tag("kind", kind)
                .gauge()
                .value();
    }

    @Test
    void anIntactObjectThatIsAnotherOneIsCorrupt() throws Exception {
        BuiltObject other = BuiltObject.of(TestSegments.chain(3, 200, 500, true), 4096, Lz4FrameCompression.INSTANCE);
        memory.overwrite(KEY, other.bytes());
        ObjectRef wrong = new ObjectRef(
                KEY, 77, other.bytes().length, ref.crc32c(), ref.startOffset(), ref.endOffset(), ref.maxTimestampMs());
        assertTold(reader.read(wrong, PARTITION, 0, 1), Kind.CORRUPT);
    }

    @Test
    void readsAfterTheCloseFailInsteadOfHanging() {
        store.once(Verb.GET, new Fault.Hold());
        CompletableFuture<RemoteEntries> read = reader.read(ref, PARTITION, 0, 1);
        awaitHeld();
        reader.close();
        memory.close();
        store.release();
        assertTold(read, Kind.UNAVAILABLE);
    }

    @Test
    void theCloseTellsThoseWhoWaitForTheirTurnAndAsksTheStoreForNothingMore() throws Exception {
        reader.close();
        reader = reader(64 * 1024);
        drop(reader.read(ref, PARTITION, 0, 1));
        store.always(Verb.GET, new Fault.Hold());
        List<CompletableFuture<RemoteEntries>> reads = new ArrayList<>();
        for (int block = 1; block < object.tail().index().blocks(); block++) {
            reads.add(reader.read(ref, PARTITION, object.tail().index().firstOffset(block), 1));
        }
        awaitHeld();
        reader.close();
        long waiting = reads.stream().filter(read -> !read.isDone()).count();
        assertThat(waiting).as("on their way").isLessThan(reads.size() / 2);
        reads.stream().filter(CompletableFuture::isDone).forEach(read -> assertTold(read, Kind.UNAVAILABLE));
        store.mend();
        long asked = store.calls(Verb.GET);
        store.release();
        for (CompletableFuture<RemoteEntries> read : reads) {
            read.handle((entries, failure) -> entries == null ? 0 : dropped(entries))
                    .get(10, TimeUnit.SECONDS);
        }
        assertThat(store.calls(Verb.GET)).isEqualTo(asked);
    }

    /** S11: however many catch up, each asking for as much as it can, on many times what memory there is for it. */
    @Test
    void manyColdReadersOfManyObjectsStayWithinTheBudget() throws Exception {
        int readers = 200;
        int readsEach = 15;
        long budget = 2L << 20;
        List<ObjectRef> objects = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            BuiltObject built =
                    BuiltObject.of(TestSegments.chain(3, 800, 500, i % 2 == 0), BLOCK, Lz4FrameCompression.INSTANCE);
            memory.overwrite("c/t/7/" + i + ".many", built.bytes());
            objects.add(ref("c/t/7/" + i + ".many", built));
        }
        assertThat(objects.stream().mapToLong(ObjectRef::length).sum()).isGreaterThan(2 * budget);
        SimpleMeterRegistry figures = new SimpleMeterRegistry();
        long mostCached = 0;
        double mostReserved = 0;
        try (RemoteSegmentReader crowded = new RemoteSegmentReader(
                store,
                new ReadSettings(2, 16, budget, 64 * 1024, 64 * 1024, 256 * 1024, 0),
                SystemClock.INSTANCE,
                figures,
                place -> true,
                faults)) {
            long[] at = new long[readers];
            for (int i = 0; i < readers; i++) {
                at[i] = i * ref.endOffset() / readers;
            }
            for (int round = 0; round < readsEach; round++) {
                List<CompletableFuture<RemoteEntries>> reads = new ArrayList<>();
                for (int i = 0; i < readers; i++) {
                    reads.add(crowded.read(objects.get(i % objects.size()), PARTITION, at[i], 100_000_000));
                }
                for (int i = 0; i < readers; i++) {
                    RemoteEntries read = get(reads.get(i));
                    assertThat(read.entries().readableBytes()).isPositive().isLessThanOrEqualTo(64 * 1024);
                    assertThat(read.nextOffset()).isGreaterThan(at[i]);
                    at[i] = read.nextOffset() % objects.get(i % objects.size()).endOffset();
                    read.entries().release();
                    mostCached = Math.max(mostCached, crowded.cachedBytes());
                }
                mostReserved = Math.max(
                        mostReserved,
                        figures.get("varve.tiering.cache.reserved.bytes")
                                .gauge()
                                .value());
            }
        }
        assertThat(mostCached).isLessThanOrEqualTo(budget);
        // The answers that are not fetched yet hold blocks beyond the budget, a few for each reader; nothing piles up.
        long answersBytes = readers * (64 * 1024L + 2 * BLOCK);
        assertThat(mostReserved).isPositive().isLessThanOrEqualTo(budget + answersBytes + (32 << 20));
    }

    @Test
    void aSequentialReaderFindsTheNextObjectOnItsWayWhenItGetsThere() throws Exception {
        BuiltObject second = BuiltObject.of(
                List.of(TestSegments.segment(9, ref.endOffset(), 200, 500, true)), BLOCK, Lz4FrameCompression.INSTANCE);
        memory.overwrite("c/t/7/2.seg", second.bytes());
        ObjectRef next = new ObjectRef(
                "c/t/7/2.seg",
                77,
                second.written().length(),
                second.written().crc(),
                second.written().startOffset(),
                second.written().endOffset(),
                second.written().maxTimestampMs());
        RemoteSegments.Following following =
                after -> CompletableFuture.completedFuture(after.equals(ref) ? Optional.of(next) : Optional.empty());
        for (long at = 0; at < ref.endOffset(); ) {
            RemoteEntries read = get(reader.read(ref, PARTITION, at, 64 * 1024, following));
            at = read.nextOffset();
            read.entries().release();
        }
        long wholeBytes = second.written().length() / 2;
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (store.bytesRead(next.key()) < wholeBytes) {
            assertThat(System.nanoTime()).as("it is never fetched ahead").isLessThan(deadlineNs);
            Thread.onSpinWait();
        }
    }

    @Test
    void whoDoesNotReadInSequenceCausesNoLookAtTheObjectThatFollows() throws Exception {
        RemoteSegments.Following following = after -> {
            throw new AssertionError("nobody reads in sequence");
        };
        for (long at : new long[] {ref.endOffset() - 1, 3, ref.endOffset() - 5}) {
            RemoteEntries read = get(reader.read(ref, PARTITION, at, 1, following));
            read.entries().release();
        }
    }

    @Test
    void anErrorReachesTheFaultHandlerAlsoFromAFillThatNobodyWaitsFor() throws Exception {
        isBroken = true;
        store.once(Verb.GET, new Fault.Break());
        assertThatThrownBy(() -> reader.read(ref, PARTITION, 0, 1).get(10, TimeUnit.SECONDS))
                .hasRootCauseInstanceOf(InvariantViolation.class);
        assertThat(faults.take()).isInstanceOf(InvariantViolation.class);

        drop(reader.read(ref, PARTITION, 0, 1));
        store.always(Verb.GET, new Fault.Break());
        Throwable fault = null;
        for (long offset = 0; fault == null && offset < ref.endOffset(); ) {
            CompletableFuture<RemoteEntries> read = reader.read(ref, PARTITION, offset, 64 * 1024);
            offset = read.handle((entries, failure) -> entries == null ? Long.MAX_VALUE : dropped(entries))
                    .get(10, TimeUnit.SECONDS);
            fault = faults.take();
        }
        assertThat(fault).isInstanceOf(InvariantViolation.class);
    }

    /** A slow disk or a store behind a queue: by the time that the read begins, the memory that it was to go into holds another block. */
    @Test
    void aReadThatBeginsAfterItWasGivenUpTouchesNobodysMemory() throws Exception {
        BuiltObject raw = BuiltObject.of(TestSegments.chain(3, 200, 500, false), BLOCK, Lz4FrameCompression.INSTANCE);
        memory.overwrite(KEY, raw.bytes());
        ref = ref(raw);
        LateStore late = new LateStore(memory);
        reader.close();
        reader = reader(late, 4L << 20);
        drop(reader.read(ref, PARTITION, 0, 1));
        late.isSlow = true;
        assertTold(reader.read(ref, PARTITION, ref.endOffset() / 2, 1), Kind.UNAVAILABLE);
        late.isSlow = false;
        List<ByteBuffer> wanted =
                raw.segments().stream().flatMap(s -> s.entries().stream()).toList();
        assertThat(readAll()).isEqualTo(wanted);
        late.begun.forEach(Runnable::run);
        assertThat(late.begun).isNotEmpty();
        assertThat(readAll()).isEqualTo(wanted);
    }

    @Test
    void anErrorInLookingAheadReachesTheFaultHandler() throws Exception {
        isBroken = true;
        RemoteSegments.Following broken = after -> {
            throw new InvariantViolation("broken on order");
        };
        Throwable fault = null;
        for (long at = 0; at < ref.endOffset(); ) {
            RemoteEntries read = get(reader.read(ref, PARTITION, at, 64 * 1024, broken));
            at = dropped(read);
        }
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (fault == null) {
            assertThat(System.nanoTime()).as("nobody is told").isLessThan(deadlineNs);
            fault = faults.take();
            Thread.onSpinWait();
        }
        assertThat(fault).isInstanceOf(InvariantViolation.class);
    }

    /** A store whose reads of blocks have to queue, for longer than anybody waits. */
    private static final class LateStore extends WrappedObjectStore {

        private final ObjectStore inner;
        private final List<Runnable> begun = new CopyOnWriteArrayList<>();
        private volatile boolean isSlow;

        LateStore(ObjectStore inner) {
            super(inner);
            this.inner = inner;
        }

        @Override
        public CompletableFuture<Void> fill(String key, long from, RangeTarget into) {
            if (!isSlow) {
                return inner.fill(key, from, into);
            }
            begun.add(() -> inner.fill(key, from, into).join());
            return CompletableFuture.failedFuture(new StoreException(StoreException.Kind.TIMED_OUT, "on order"));
        }

        @Override
        protected <T> CompletableFuture<T> around(
                Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
            return call.get();
        }
    }

    private List<ByteBuffer> readAll() throws Exception {
        List<ByteBuffer> got = new ArrayList<>();
        for (long at = 0; at < ref.endOffset(); ) {
            RemoteEntries read = get(reader.read(ref, PARTITION, at, 3000));
            at = read.nextOffset();
            got.addAll(entries(read));
        }
        return got;
    }

    private RemoteSegmentReader reader(long cacheBytes) {
        return reader(store, cacheBytes);
    }

    private RemoteSegmentReader reader(ObjectStore from, long cacheBytes) {
        return new RemoteSegmentReader(
                from,
                new ReadSettings(2, 16, cacheBytes, 64 * 1024, 64 * 1024, 256 * 1024, 0),
                SystemClock.INSTANCE,
                registry,
                unread -> isNamed,
                faults);
    }

    private static ObjectRef ref(BuiltObject object) {
        return ref(KEY, object);
    }

    private static ObjectRef ref(String key, BuiltObject object) {
        return new ObjectRef(
                key,
                77,
                object.written().length(),
                object.written().crc(),
                object.written().startOffset(),
                object.written().endOffset(),
                object.written().maxTimestampMs());
    }

    private void awaitHeld() {
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (store.held() < 1) {
            assertThat(System.nanoTime()).as("the store is never asked").isLessThan(deadlineNs);
            Thread.onSpinWait();
        }
    }

    /** Copies of the entries that were read; lets go of what they lay in. */
    private static List<ByteBuffer> entries(RemoteEntries read) {
        ByteBuffer all = ByteBuffer.allocate(read.entries().readableBytes());
        read.entries().readBytes(all);
        read.entries().release();
        List<ByteBuffer> entries = new ArrayList<>();
        for (int at = 0; at < all.capacity(); ) {
            int bytes = EntryFormat.HEADER_BYTES + EntryFormat.payloadLength(all, at);
            entries.add(all.slice(at, bytes));
            at += bytes;
        }
        return entries;
    }

    private static long drop(CompletableFuture<RemoteEntries> read) throws Exception {
        return dropped(get(read));
    }

    private static long dropped(RemoteEntries read) {
        read.entries().release();
        return read.nextOffset();
    }

    private static <T> T get(CompletableFuture<T> answer) throws Exception {
        return answer.get(10, TimeUnit.SECONDS);
    }

    private static void assertTold(CompletableFuture<?> read, Kind kind) {
        assertThatThrownBy(() -> get(read))
                .satisfies(e -> assertThat(StoreFailures.root(e))
                        .isInstanceOfSatisfying(
                                RemoteReadException.class,
                                told -> assertThat(told.kind()).isEqualTo(kind)));
    }
}
