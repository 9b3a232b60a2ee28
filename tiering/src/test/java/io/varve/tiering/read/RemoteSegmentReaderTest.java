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
import io.varve.tiering.api.RemoteSegments.RemoteEntries;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.testing.BuiltObject;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
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
            RemoteEntries entries = get(reader.read(ref, PARTITION, at, 3000));
            assertThat(entries.entries()).isNotEmpty();
            got.addAll(entries.entries());
            at = entries.nextOffset();
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
        RemoteEntries entries = get(reader.read(ref, PARTITION, inside, 1));
        assertThat(entries.entries()).containsExactly(entry);
        assertThat(entries.nextOffset()).isEqualTo(inside + 1);
    }

    @Test
    void aColdReadCostsTwoGetsAndAWarmOneNone() throws Exception {
        get(reader.read(ref, PARTITION, 100, 1000));
        assertThat(store.calls(Verb.GET)).isEqualTo(2);
        get(reader.read(ref, PARTITION, 100, 1000));
        assertThat(store.calls(Verb.GET)).isEqualTo(2);
        assertThat(store.calls(Verb.HEAD) + store.calls(Verb.LIST)).isZero();
    }

    @Test
    void readersOfOneBlockShareOneFill() throws Exception {
        get(reader.read(ref, PARTITION, 0, 1));
        store.always(Verb.GET, new Fault.Hold());
        long last = ref.endOffset() - 1;
        List<CompletableFuture<RemoteEntries>> reads = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            reads.add(reader.read(ref, PARTITION, last, 1));
        }
        assertThat(store.held()).isEqualTo(1);
        store.mend();
        store.release();
        for (CompletableFuture<RemoteEntries> read : reads) {
            assertThat(get(read).entries()).hasSize(1);
        }
    }

    /** S13: a fetch whose wait is shorter than the store's first byte must not begin anew each time. */
    @Test
    void aFillGoesOnWhenTheReaderNoLongerWaits() throws Exception {
        get(reader.read(ref, PARTITION, 0, 1));
        store.once(Verb.GET, new Fault.Hold());
        long last = ref.endOffset() - 1;
        CompletableFuture<RemoteEntries> impatient = reader.read(ref, PARTITION, last, 1);
        impatient.cancel(true);
        long before = store.calls(Verb.GET);
        store.release();
        assertThat(get(reader.read(ref, PARTITION, last, 1)).entries()).hasSize(1);
        assertThat(store.calls(Verb.GET)).isEqualTo(before);
    }

    @Test
    void aSequentialReaderNeedsFarFewerGetsThanBlocks() throws Exception {
        for (long at = 0; at < ref.endOffset(); ) {
            at = get(reader.read(ref, PARTITION, at, BLOCK)).nextOffset();
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
        memory.overwrite(KEY, java.util.Arrays.copyOf(object.bytes(), object.bytes().length - 1));
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.CORRUPT);
        memory.overwrite(KEY, object.withVersion(2, 0).bytes());
        assertTold(reader.read(ref, PARTITION, 0, 1), Kind.UNSUPPORTED_VERSION);
    }

    @Test
    void aDamagedBlockIsTroubleOfItsOwnReadersOnlyAndPassesWithIt() throws Exception {
        get(reader.read(ref, PARTITION, 0, 1));
        store.once(Verb.GET, new Fault.Flip(10));
        assertTold(reader.read(ref, PARTITION, ref.endOffset() - 1, 1), Kind.CORRUPT);
        assertThat(get(reader.read(ref, PARTITION, 0, 1)).entries()).hasSize(1);
        assertThat(get(reader.read(ref, PARTITION, ref.endOffset() - 1, 1)).entries())
                .hasSize(1);
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
        reader.close();
        memory.close();
        store.release();
        assertTold(read, Kind.UNAVAILABLE);
    }

    @Test
    void manyColdReadersOfManyObjectsStayWithinTheBudget() throws Exception {
        long budget = 512 * 1024;
        reader.close();
        reader = reader(budget);
        List<CompletableFuture<RemoteEntries>> reads = new ArrayList<>();
        for (int round = 0; round < 20; round++) {
            for (int i = 0; i < 200; i++) {
                long from = (long) i * ref.endOffset() / 200;
                reads.add(reader.read(ref, PARTITION, from, 100_000_000));
            }
        }
        for (CompletableFuture<RemoteEntries> read : reads) {
            RemoteEntries entries = get(read);
            assertThat(entries.entries()).isNotEmpty();
            assertThat(entries.entries().stream()
                            .mapToLong(ByteBuffer::remaining)
                            .sum())
                    .isLessThanOrEqualTo(64 * 1024);
        }
        assertThat(reader.cachedBytes()).isLessThanOrEqualTo(budget);
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
        reader.expect(PARTITION, ref, 0, next);
        assertThat(store.calls(Verb.GET)).as("nobody reads in sequence").isZero();
        for (long at = 0; at < ref.endOffset(); ) {
            at = get(reader.read(ref, PARTITION, at, 64 * 1024)).nextOffset();
        }
        long cached = reader.cachedBytes();
        reader.expect(PARTITION, ref, ref.endOffset(), next);
        long deadlineNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
        while (reader.cachedBytes() <= cached + BLOCK) {
            assertThat(System.nanoTime()).as("it is never fetched ahead").isLessThan(deadlineNs);
            Thread.onSpinWait();
        }
        long calls = store.calls(Verb.GET);
        assertThat(get(reader.read(next, PARTITION, next.startOffset(), 1024)).entries())
                .isNotEmpty();
        assertThat(store.calls(Verb.GET)).isEqualTo(calls);
    }

    @Test
    void anErrorReachesTheFaultHandlerAlsoFromAFillThatNobodyWaitsFor() throws Exception {
        isBroken = true;
        store.once(Verb.GET, new Fault.Break());
        assertThatThrownBy(() -> reader.read(ref, PARTITION, 0, 1).get(10, TimeUnit.SECONDS))
                .hasRootCauseInstanceOf(InvariantViolation.class);
        assertThat(faults.take()).isInstanceOf(InvariantViolation.class);

        reader.read(ref, PARTITION, 0, 1).get(10, TimeUnit.SECONDS);
        store.always(Verb.GET, new Fault.Break());
        Throwable fault = null;
        for (long offset = 0; fault == null && offset < ref.endOffset(); ) {
            CompletableFuture<RemoteEntries> read = reader.read(ref, PARTITION, offset, 64 * 1024);
            offset = read.handle((entries, failure) -> entries == null ? Long.MAX_VALUE : entries.nextOffset())
                    .get(10, TimeUnit.SECONDS);
            fault = faults.take();
        }
        assertThat(fault).isInstanceOf(InvariantViolation.class);
    }

    private RemoteSegmentReader reader(long cacheBytes) {
        return new RemoteSegmentReader(
                store,
                new ReadSettings(2, cacheBytes, 64 * 1024, 64 * 1024, 256 * 1024),
                SystemClock.INSTANCE,
                new SimpleMeterRegistry(),
                faults);
    }

    private static ObjectRef ref(BuiltObject object) {
        return new ObjectRef(
                KEY,
                77,
                object.written().length(),
                object.written().crc(),
                object.written().startOffset(),
                object.written().endOffset(),
                object.written().maxTimestampMs());
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
