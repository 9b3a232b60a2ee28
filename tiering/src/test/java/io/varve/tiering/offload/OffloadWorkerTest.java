package io.varve.tiering.offload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.InvariantViolation;
import io.varve.metadata.model.ObjectRef;
import io.varve.protocol.runtime.SystemClock;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.api.OffloadFailedException;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.SealedSegmentSource;
import io.varve.tiering.compress.Lz4FrameCompression;
import io.varve.tiering.object.DeadlineObjectStore;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.object.OwnedObjectStore;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.read.ObjectWalk;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * An offload ends in a verified object or in a failure that says why (I-10). The faults are those of case C14: an upload that hangs, one
 * that is accepted and lost, one that is cut or changed on its way.
 */
class OffloadWorkerTest {

    private static final int PART = 64 * 1024;

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);
    private final ObjectStore store = new DeadlineObjectStore(faulty, 300, Long.MAX_VALUE / 2000);
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final OffloadWorker worker = worker(0);

    private long attemptId;

    @AfterEach
    void close() {
        worker.close();
        faults.assertNone();
    }

    @Test
    void aSmallSegmentGoesByASinglePut() throws Exception {
        List<TestSegments.Segment> segments = TestSegments.chain(1, 20, 1000, false);
        ObjectRef object = offload(segments);
        assertHolds(object, segments);
        assertThat(faulty.calls(Verb.PUT)).isEqualTo(1);
        assertThat(faulty.calls(Verb.CREATE_UPLOAD)).isZero();
        assertThat(faulty.calls(Verb.LIST)).isZero();
    }

    @Test
    void aLargeSegmentGoesInParts() throws Exception {
        List<TestSegments.Segment> segments = TestSegments.chain(1, 500, 1000, false);
        ObjectRef object = offload(segments);
        assertHolds(object, segments);
        assertThat(faulty.calls(Verb.PUT)).isZero();
        assertThat(faulty.calls(Verb.PUT_PART)).isEqualTo((object.length() + PART - 1) / PART);
        assertThat(memory.openUploads()).isZero();
    }

    @Test
    void adjoiningSegmentsBecomeOneObject() throws Exception {
        List<TestSegments.Segment> segments = TestSegments.chain(7, 10, 300, true);
        ObjectRef object = offload(segments);
        assertHolds(object, segments);
        assertThat(memory.objects()).hasSize(1);
        assertThat(object.startOffset()).isZero();
        assertThat(object.endOffset()).isEqualTo(segments.get(6).descriptor().endOffset());
        assertThat(object.maxTimestampMs())
                .isEqualTo(segments.stream()
                        .mapToLong(s -> s.descriptor().maxTimestampMs())
                        .max()
                        .orElseThrow());
    }

    @Test
    void theKeySaysWhoseItIsAndWhichAttempt() throws Exception {
        attemptId = 0xabc - 1;
        ObjectRef object = offload(TestSegments.chain(1, 2, 300, true));
        assertThat(object.key())
                .isEqualTo("cluster-1/0123456789abcdef000000000000002a/7/00000000000000000000-0000000000000abc.seg");
    }

    static List<List<Object>> faultsOfSinglePuts() {
        return List.of(
                List.of(Verb.PUT, new Fault.Hang(), "had no answer"),
                List.of(Verb.PUT, new Fault.DoThenHang(), "had no answer"),
                List.of(Verb.PUT, new Fault.Lie(), "is not there"),
                List.of(Verb.PUT, new Fault.Shorten(1), "bytes, not"),
                List.of(Verb.PUT, new Fault.Flip(70), "checksum"),
                List.of(Verb.PUT, new Fault.Flip(3), "header"),
                List.of(Verb.PUT, new Fault.Frame("1000;chunk-signature=0\r\n", "\r\n0\r\n"), "bytes, not"),
                List.of(Verb.PUT, new Fault.Fail(StoreException.Kind.FORBIDDEN), "made to fail"),
                List.of(Verb.HEAD, new Fault.Fail(StoreException.Kind.THROTTLED), "made to fail"),
                List.of(Verb.GET, new Fault.Flip(1_000_000), "read back"),
                List.of(Verb.GET, new Fault.Hang(), "had no answer"));
    }

    /** S2, S4, C14: said to be done and not there, or never answered: the attempt fails, and the next has another name. */
    @ParameterizedTest
    @MethodSource("faultsOfSinglePuts")
    void nothingThatGoesWrongWithASinglePutCountsAsOffloaded(List<Object> fault) throws Exception {
        faulty.once((Verb) fault.get(0), (Fault) fault.get(1));
        assertOnceFailsThenSucceeds(TestSegments.chain(1, 20, 1000, false), (String) fault.get(2));
    }

    static List<List<Object>> faultsOfParts() {
        return List.of(
                List.of(Verb.CREATE_UPLOAD, new Fault.Fail(StoreException.Kind.THROTTLED), "made to fail"),
                List.of(Verb.PUT_PART, new Fault.Hang(), "had no answer"),
                List.of(Verb.PUT_PART, new Fault.Shorten(100), "bytes, not"),
                List.of(Verb.PUT_PART, new Fault.Flip(70), "checksum"),
                List.of(Verb.PUT_PART, new Fault.Fail(StoreException.Kind.UPLOAD_GONE), "made to fail"),
                List.of(Verb.COMPLETE_UPLOAD, new Fault.Lie(), "is not there"),
                List.of(Verb.COMPLETE_UPLOAD, new Fault.Hang(), "had no answer"),
                List.of(Verb.COMPLETE_UPLOAD, new Fault.Fail(StoreException.Kind.UPLOAD_GONE), "made to fail"));
    }

    /** S4, S8, C14, C16.2: the same of uploads in parts, also of one whose id the store has forgotten: the next begins from nothing under another. */
    @ParameterizedTest
    @MethodSource("faultsOfParts")
    void nothingThatGoesWrongWithAPartCountsAsOffloaded(List<Object> fault) throws Exception {
        faulty.once((Verb) fault.get(0), (Fault) fault.get(1));
        assertOnceFailsThenSucceeds(TestSegments.chain(1, 500, 1000, false), (String) fault.get(2));
    }

    /** S6: an upload that was completed, with its answer lost, is no orphan. */
    @Test
    void aCompletionWhoseAnswerWasLostIsFoundOut() throws Exception {
        faulty.once(Verb.COMPLETE_UPLOAD, new Fault.DoThenFail(StoreException.Kind.UPLOAD_GONE));
        List<TestSegments.Segment> segments = TestSegments.chain(1, 500, 1000, false);
        assertHolds(offload(segments), segments);
    }

    /** S9: what can't be read in full is not merged into an object without it. */
    @Test
    void aDamagedLocalCopyIsNotOffloaded() {
        TestSegments.Segment segment = TestSegments.segment(1, 0, 20, 1000, false);
        ByteBuffer damaged = segment.entries().get(7);
        damaged.put(100, (byte) (damaged.get(100) ^ 1));
        assertThatThrownBy(() -> offload(List.of(segment)))
                .isInstanceOf(ExecutionException.class)
                .hasMessageContaining("the local copy can't be offloaded");
        assertThat(memory.objects()).isEmpty();
        assertThat(worker.status().lastError()).contains("not intact");
    }

    @Test
    void anAttemptBeyondTheQueueIsRefusedAtOnceAndItsSourcesAreClosed() throws Exception {
        faulty.always(Verb.PUT, new Fault.Hold());
        List<TestSegments.Source> sources = new ArrayList<>();
        List<CompletableFuture<ObjectRef>> attempts = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            TestSegments.Source source =
                    TestSegments.segment(1, 0, 5, 300, true).source();
            sources.add(source);
            attempts.add(worker.offload(attempt(), List.of(source)));
        }
        assertThatThrownBy(() -> attempts.get(4).get(10, TimeUnit.SECONDS)).hasMessageContaining("takes no more");
        assertThat(sources.get(4).isClosed()).isTrue();
        assertThat(worker.status().pendingSegments()).isEqualTo(4);
        assertThat(worker.status().pendingBytes()).isPositive();
        worker.close();
        assertThatThrownBy(() -> attempts.get(3).get(10, TimeUnit.SECONDS)).hasMessageContaining("closing");
        assertThatThrownBy(() -> attempts.get(0).get(10, TimeUnit.SECONDS)).isInstanceOf(ExecutionException.class);
    }

    /** What was taken back is deleted once, a while later: an object that appeared after that would be an orphan (I-11). */
    @Test
    void anAttemptThatIsNoLongerWantedMakesNoObject() {
        AtomicInteger asked = new AtomicInteger();
        for (int entries : new int[] {20, 500}) {
            asked.set(0);
            TestSegments.Source source =
                    TestSegments.segment(1, 0, entries, 1000, false).source();
            assertThatThrownBy(() -> worker.offload(attempt(), List.of(source), () -> asked.incrementAndGet() < 5)
                            .get(10, TimeUnit.SECONDS))
                    .hasMessageContaining("WITHDRAWN");
            assertThat(source.isClosed()).isTrue();
        }
        assertThat(memory.objects()).isEmpty();
        assertThat(memory.openUploads()).isZero();
    }

    /** S24: while a store is away attempts fail by the thousand, and a key that was never written needn't be deleted. */
    @Test
    void anAttemptSaysWhetherAnObjectCanHaveComeOfIt() throws Exception {
        TestSegments.Segment small = TestSegments.segment(1, 0, 20, 1000, false);
        TestSegments.Segment large = TestSegments.segment(1, 0, 500, 1000, false);
        faulty.once(Verb.PUT, new Fault.Fail(StoreException.Kind.TIMED_OUT));
        assertThat(leftNothing(worker, small)).as("it may yet be done").isFalse();
        faulty.once(Verb.PUT, new Fault.Flip(70));
        assertThat(leftNothing(worker, small)).as("it was, and isn't right").isFalse();
        faulty.once(Verb.COMPLETE_UPLOAD, new Fault.Hang());
        assertThat(leftNothing(worker, large)).as("it may yet be completed").isFalse();
        faulty.once(Verb.PUT_PART, new Fault.Hang());
        assertThat(leftNothing(worker, large)).as("nobody completes it").isTrue();
        faulty.once(Verb.CREATE_UPLOAD, new Fault.Hang());
        assertThat(leftNothing(worker, large)).isTrue();
        ObjectStore unowned = new OwnedObjectStore(store, this::away, this::away, SystemClock.INSTANCE);
        try (OffloadWorker stranger = worker(unowned, 0)) {
            assertThat(leftNothing(stranger, small))
                    .as("whose the bucket is isn't known")
                    .isTrue();
        }
        small.entries().get(7).put(100, (byte) ~small.entries().get(7).get(100));
        assertThat(leftNothing(worker, small)).as("the local copy is damaged").isTrue();
    }

    private CompletableFuture<Void> away() {
        return CompletableFuture.failedFuture(new StoreException(StoreException.Kind.THROTTLED, "away"));
    }

    private boolean leftNothing(OffloadWorker by, TestSegments.Segment segment) throws Exception {
        return by.offload(attempt(), List.of(segment.source()))
                .handle((object, failure) -> ((OffloadFailedException) failure).leftNothing())
                .get(10, TimeUnit.SECONDS);
    }

    /** S5: a deletion is durable in the metadata until the store says that the object is gone. */
    @Test
    void aDeletionIsBelievedOnlyWhenTheObjectIsGone() throws Exception {
        ObjectRef object = offload(TestSegments.chain(1, 5, 300, true));
        faulty.once(Verb.DELETE, new Fault.Lie());
        assertThatThrownBy(() -> worker.delete(object.key()).get(10, TimeUnit.SECONDS))
                .hasMessageContaining("still there");
        worker.delete(object.key()).get(10, TimeUnit.SECONDS);
        assertThat(memory.objects()).isEmpty();
        worker.delete(object.key()).get(10, TimeUnit.SECONDS);
    }

    @Test
    void anErrorReachesTheFaultHandlerAndTheAttemptFails() {
        for (Verb verb : List.of(Verb.PUT, Verb.GET, Verb.HEAD)) {
            List<SealedSegmentSource> sources =
                    List.of(TestSegments.chain(1, 10, 100, true).get(0).source());
            faulty.once(verb, new Fault.Break());
            assertThatThrownBy(() -> worker.offload(attempt(), sources).get(10, TimeUnit.SECONDS))
                    .hasMessageContaining("BUG: ");
            assertThat(faults.take()).isInstanceOf(InvariantViolation.class);
        }
        faulty.once(Verb.DELETE, new Fault.Break());
        assertThatThrownBy(() -> worker.delete("c/t/7/1.seg").get(10, TimeUnit.SECONDS))
                .hasRootCauseInstanceOf(InvariantViolation.class);
        assertThat(faults.take()).isInstanceOf(InvariantViolation.class);
    }

    /** All uploads of a bookie share one rate; what a part has is sent at once after a rest. */
    @Test
    void uploadsAreHeldBackToTheirRate() throws Exception {
        List<TestSegments.Segment> segments = TestSegments.chain(1, 500, 1000, false);
        long bytesPerSecond = 1 << 20;
        try (OffloadWorker slow = worker(bytesPerSecond)) {
            long startedNs = System.nanoTime();
            ObjectRef object =
                    slow.offload(attempt(), List.of(segments.get(0).source())).get(30, TimeUnit.SECONDS);
            long tookMs = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedNs);
            assertHolds(object, segments);
            // The last part's debt is nobody's to wait for.
            assertThat(tookMs).isGreaterThanOrEqualTo((object.length() - 2 * PART) * 1000 / bytesPerSecond);
        }
    }

    /** S24: an alarm on the rise of a counter sees the first failure as well. */
    @Test
    void failuresOfEveryKindAreCountedFromZero() throws Exception {
        for (StoreException.Kind kind : StoreException.Kind.values()) {
            assertThat(failures(kind.name())).as(kind.name()).isZero();
        }
        for (String kind : List.of(
                "CORRUPT", "MISSING", "UNAVAILABLE", "LOCAL_COPY", "LOCAL_DISK", "WITHDRAWN", "REJECTED", "BUG")) {
            assertThat(failures(kind)).as(kind).isZero();
        }
        faulty.once(Verb.PUT, new Fault.Fail(StoreException.Kind.FORBIDDEN));
        assertOnceFailsThenSucceeds(TestSegments.chain(1, 20, 1000, false), "made to fail");
        assertThat(failures("FORBIDDEN")).isOne();
    }

    private double failures(String kind) {
        return registry.get("varve.tiering.offload.failures")
                .tag("kind", kind)
                .counter()
                .count();
    }

    private OffloadWorker worker(long bytesPerSecond) {
        return worker(store, bytesPerSecond);
    }

    private OffloadWorker worker(ObjectStore store, long bytesPerSecond) {
        return new OffloadWorker(
                store,
                TestSegments.CLUSTER,
                new UploadSettings(2, 2, PART, 2, 4096, true, bytesPerSecond),
                SystemClock.INSTANCE,
                registry,
                faults);
    }

    private void assertOnceFailsThenSucceeds(List<TestSegments.Segment> segments, String reason) throws Exception {
        List<TestSegments.Source> sources =
                segments.stream().map(TestSegments.Segment::source).toList();
        assertThatThrownBy(() -> worker.offload(attempt(), new ArrayList<SealedSegmentSource>(sources))
                        .get(10, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(java.io.IOException.class)
                .hasMessageContaining(reason);
        assertThat(sources).allMatch(TestSegments.Source::isClosed);
        assertThat(worker.status().lastError()).contains(reason);
        assertThat(worker.status().pendingSegments()).isZero();

        assertHolds(offload(segments), segments);
    }

    private ObjectRef offload(List<TestSegments.Segment> segments) throws Exception {
        List<SealedSegmentSource> sources = new ArrayList<>();
        segments.forEach(s -> sources.add(s.source()));
        return worker.offload(attempt(), sources).get(10, TimeUnit.SECONDS);
    }

    private Offloader.OffloadAttempt attempt() {
        return new Offloader.OffloadAttempt(++attemptId, "orders", TestSegments.PARTITION);
    }

    private void assertHolds(ObjectRef object, List<TestSegments.Segment> segments) {
        List<ByteBuffer> entries = new ArrayList<>();
        new ObjectWalk(memory, Lz4FrameCompression.INSTANCE, 10_000)
                .verify(
                        object.key(),
                        object.length(),
                        block -> entries.addAll(block.entriesFrom(0, Integer.MAX_VALUE, true)));
        assertThat(entries)
                .isEqualTo(segments.stream().flatMap(s -> s.entries().stream()).toList());
    }
}
