package io.varve.tiering.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.varve.base.InvariantViolation;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.testing.StepClock;
import io.varve.sim.RecordingFaultHandler;
import io.varve.tiering.api.ManifestEditor.Edited;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.core.BlockCompression;
import io.varve.tiering.core.KeyRange;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestMarks;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.ObjectStore.Verb;
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
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A chain's offloaded head in manifests: found at two GETs, extended without touching what is read, never with a gap (I-8); and what becomes of objects that nobody may read any longer (I-11). */
class ManifestTest {

    private static final PartitionId PARTITION = TestSegments.PARTITION;
    private static final int OFFSETS_EACH = 10;

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final RecordingFaultHandler faults = new RecordingFaultHandler();
    private final ManifestWorker worker = new ManifestWorker(store, TestSegments.CLUSTER, registry);

    @Test
    void everyOffsetTimeAndEpochOfManySegmentsIsFound() throws Exception {
        int count = 2 * ManifestLeaf.SEGMENTS_MAX + 100;
        List<SegmentDescriptor> all = segments(0, count);
        ManifestRef ref = built(Optional.empty(), 1, all);
        assertThat(ref.segments()).isEqualTo(count);
        assertThat(ref.endOffset()).isEqualTo((long) count * OFFSETS_EACH);

        CachedManifests manifests = manifests();
        for (int i = 0; i < count; i += 97) {
            SegmentDescriptor wanted = all.get(i);
            assertThat(get(manifests.segmentAt(ref, PARTITION, wanted.startOffset() + 3)))
                    .hasValue(wanted);
            assertThat(get(manifests.segmentAtTimestamp(ref, PARTITION, wanted.maxTimestampMs(), 0)))
                    .hasValue(wanted);
            assertThat(get(manifests.segmentAtTimestamp(ref, PARTITION, 0, wanted.startOffset() + 3)))
                    .hasValue(wanted);
            assertThat(get(manifests.timestampMsMost(ref, PARTITION, wanted.startOffset())))
                    .isEqualTo(ref.maxTimestampMs());
        }
        assertThat(get(manifests.segmentAt(ref, PARTITION, ref.endOffset()))).isEmpty();
        assertThat(get(manifests.segmentAtTimestamp(ref, PARTITION, ref.maxTimestampMs() + 1, 0)))
                .isEmpty();
    }

    @Test
    void aColdLookUpCostsTwoGetsAndAWarmOneNone() throws Exception {
        ManifestRef ref = built(Optional.empty(), 1, segments(0, 500));
        CachedManifests manifests = manifests();
        long before = store.calls(Verb.GET);
        get(manifests.segmentAt(ref, PARTITION, 2000));
        assertThat(store.calls(Verb.GET) - before).isEqualTo(2);
        get(manifests.segmentAt(ref, PARTITION, 3000));
        assertThat(store.calls(Verb.GET) - before).isEqualTo(2);
    }

    @Test
    void smallExtensionsAreCompactedAsTheyComeAndReadersOfTheOldGoOn() throws Exception {
        ManifestRef first = built(Optional.empty(), 1, segments(0, 50));
        TreeSet<String> superseded = new TreeSet<>();
        ManifestRef last = first;
        for (int i = 1; i < 10; i++) {
            Edited written = extend(Optional.of(last), i + 1, segments(i * 50, 50));
            superseded.addAll(written.superseded());
            last = written.manifest().orElseThrow();
        }
        assertThat(last.segments()).isEqualTo(500);
        assertThat(get(manifests().segmentAt(first, PARTITION, 499))).isPresent();
        assertThat(get(manifests().segmentAt(last, PARTITION, 4999))).isPresent();

        superseded.forEach(key -> memory.delete(key).join());
        assertThat(memory.objects()).as("one root and one leaf are left").hasSize(2);
        assertThat(get(manifests().segmentAt(last, PARTITION, 0)))
                .hasValue(segments(0, 1).get(0));
    }

    @Test
    void wholeObjectsBelowTheLogsStartArePrunedWithTheirLeaves_I11() throws Exception {
        int leaf = ManifestLeaf.SEGMENTS_MAX;
        List<SegmentDescriptor> all = segments(0, 2 * leaf);
        all.forEach(segment -> memory.put(segment.object().orElseThrow().key(), ByteBuffer.allocate(1))
                .join());
        ManifestRef before = built(Optional.empty(), 1, all);
        Edited edited = worker.prune(PARTITION, before, 2, (leaf + 5L) * OFFSETS_EACH, () -> true);
        ManifestRef after = edited.manifest().orElseThrow();
        long start = (leaf + 4L) * OFFSETS_EACH;
        assertThat(after.startOffset()).as("the next object is still needed").isEqualTo(start);
        assertThat(after.segments()).isEqualTo(leaf - 4);
        assertThat(after.bytes()).isEqualTo((leaf - 4) * 1234L);
        assertThat(edited.superseded()).as("a root and a leaf").hasSize(2).contains(before.key());
        assertThat(segmentKeys()).hasSize((leaf - 4) / 2);
        assertThat(get(manifests().segmentAt(after, PARTITION, start - 1))).isEmpty();
        assertThat(get(manifests().segmentAt(after, PARTITION, start))).hasValue(all.get(leaf + 4));
        assertMarksAreCuts(after, all.subList(leaf + 4, 2 * leaf));

        Edited rest = worker.prune(PARTITION, after, 3, Long.MAX_VALUE, () -> true);
        assertThat(rest.manifest()).isEmpty();
        assertThat(segmentKeys()).isEmpty();
        Stream.concat(edited.superseded().stream(), rest.superseded().stream())
                .forEach(key -> memory.delete(key).join());
        assertThat(memory.objects()).isEmpty();
    }

    @Test
    void pruningWithinALeafWritesNothing() throws Exception {
        ManifestRef before = built(Optional.empty(), 1, segments(0, 50));
        Edited edited = worker.prune(PARTITION, before, 2, 10L * OFFSETS_EACH, () -> true);
        assertThat(edited.superseded()).isEmpty();
        assertThat(edited.manifest().orElseThrow().key()).isEqualTo(before.key());
        assertThat(edited.manifest().orElseThrow().startOffset()).isEqualTo(10L * OFFSETS_EACH);
        ManifestRef extended = built(edited.manifest(), 3, segments(50, 50));
        assertThat(extended.segments()).isEqualTo(90);
        assertThat(extended.startOffset()).isEqualTo(10L * OFFSETS_EACH);
        assertThat(get(manifests().segmentAt(extended, PARTITION, 999))).isPresent();
        assertMarksAreCuts(extended, segments(10, 90));
    }

    @Test
    void anObjectThatIsStillThereFailsThePruning_I11() throws Exception {
        List<SegmentDescriptor> all = segments(0, 10);
        String stubborn = all.get(2).object().orElseThrow().key();
        memory.put(stubborn, ByteBuffer.allocate(1)).join();
        ManifestRef before = built(Optional.empty(), 1, all);
        store.always(Verb.BULK_DELETE, new Fault.Leave(List.of(stubborn)));
        assertThatThrownBy(() -> worker.prune(PARTITION, before, 2, 60, () -> true))
                .isInstanceOf(RemoteReadException.class)
                .hasMessageContaining(stubborn);
        assertThatThrownBy(() -> worker.prune(PARTITION, before, 2, 60, () -> false))
                .isInstanceOf(RemoteReadException.class)
                .hasMessageContaining("withdrawn");
    }

    @Test
    void aManifestThatIsMissingIsGivenUpOnlyWithAllThatItDescribes() throws Exception {
        ManifestRef ref = built(Optional.empty(), 1, segments(0, 10));
        memory.delete(ref.key()).join();
        assertThatThrownBy(() -> worker.prune(PARTITION, ref, 2, 60, () -> true))
                .isInstanceOf(RemoteReadException.class);
        assertThat(worker.prune(PARTITION, ref, 2, 100, () -> true).manifest()).isEmpty();
    }

    /** Whoever deletes a topic gets rid of it, whatever became of its manifest. */
    @Test
    void ofADeletedTopicEverythingGoesThatIsListedIfItsManifestCannotBeRead_I11() {
        List<SegmentDescriptor> all = segments(0, ManifestLeaf.SEGMENTS_MAX + 500);
        for (boolean isDamaged : new boolean[] {true, false}) {
            for (String kind : List.of(".root", "-0001.leaf")) {
                all.forEach(segment -> putObject(segment.object().orElseThrow().key()));
                List<String> others = others();
                others.forEach(this::putObject);
                ManifestRef ref = built(Optional.empty(), 1, all);
                String lost = keysEndingWith(kind).get(0);
                if (isDamaged) {
                    memory.overwrite(lost, new byte[100]);
                } else {
                    memory.delete(lost).join();
                }
                Edited edited = worker.prune(PARTITION, ref, 2, BookieTask.PruneManifest.EVERYTHING, () -> true);
                assertThat(edited).isEqualTo(new Edited(Optional.empty(), List.of(ref.key())));
                assertThat(memory.objects().keySet()).containsExactlyInAnyOrderElementsOf(others);
                assertThat(worker.prune(PARTITION, ref, 3, BookieTask.PruneManifest.EVERYTHING, () -> true))
                        .as("after a crash")
                        .isEqualTo(edited);
            }
        }
    }

    /** Other partitions', another cluster's, and what isn't ours at all. */
    private static List<String> others() {
        PartitionId tenth = new PartitionId(PARTITION.topic(), 10 * PARTITION.index() + 10);
        return List.of(
                ObjectKeys.segment(TestSegments.CLUSTER, tenth, 0, 1),
                ObjectKeys.segment("other", PARTITION, 0, 1),
                ObjectKeys.partitionPrefix(TestSegments.CLUSTER, PARTITION) + "somebody-elses.txt");
    }

    private void putObject(String key) {
        memory.put(key, ByteBuffer.allocate(1)).join();
    }

    @Test
    void whatCannotBeReadForTheMomentIsNotGivenUp_I7() {
        ManifestRef ref = built(Optional.empty(), 1, segments(0, 10));
        for (StoreException.Kind kind : List.of(StoreException.Kind.FORBIDDEN, StoreException.Kind.TIMED_OUT)) {
            store.once(Verb.GET, new Fault.Fail(kind));
            assertThatThrownBy(() -> worker.prune(PARTITION, ref, 2, BookieTask.PruneManifest.EVERYTHING, () -> true))
                    .isInstanceOf(RemoteReadException.class);
            assertThat(memory.objects()).containsKey(ref.key());
        }
    }

    /** Of a topic that lives the chain's objects, and those that stand in for rewrites, begin where they may: what an object says itself of where it ends decides. */
    @Test
    void ofALivingTopicADamagedManifestIsGivenUpAndWhatSaysThatNobodyMayReadItGoes_I11() {
        for (boolean isDamaged : new boolean[] {true, false}) {
            List<SegmentDescriptor> all = offloaded(6);
            ManifestRef ref = built(Optional.empty(), 7, all.subList(0, 4));
            List<String> others = new ArrayList<>(others());
            others.add(ObjectKeys.segment(TestSegments.CLUSTER, PARTITION, 0, 999));
            others.add(ObjectKeys.manifestLeaf(TestSegments.CLUSTER, PARTITION, 8, 0));
            others.forEach(this::putObject);
            // Two segments in one object, of which the first was rewritten: the second may be read.
            String spanning = putObject(
                    all.get(3).startOffset(),
                    500,
                    TestSegments.chain(6, 5, 100, true).subList(3, 5));
            others.add(spanning);
            if (isDamaged) {
                memory.overwrite(ref.key(), new byte[(int) ref.length()]);
            } else {
                memory.delete(ref.key()).join();
            }
            long end = ref.endOffset();
            assertThatThrownBy(() -> worker.prune(PARTITION, ref, 9, end - 1, () -> true))
                    .isInstanceOf(RemoteReadException.class);
            store.once(Verb.GET, new Fault.None());
            store.once(Verb.GET, new Fault.Fail(StoreException.Kind.TIMED_OUT));
            assertThatThrownBy(() -> worker.prune(PARTITION, ref, 9, end + 1, () -> true))
                    .as("an object that says nothing for the moment")
                    .isInstanceOf(RemoteReadException.class);

            Edited edited = worker.prune(PARTITION, ref, 10, all.get(4).endOffset(), () -> true);
            assertThat(edited).isEqualTo(new Edited(Optional.empty(), List.of(ref.key())));
            others.add(all.get(4).object().orElseThrow().key());
            others.add(all.get(5).object().orElseThrow().key());
            assertThat(memory.objects().keySet()).containsExactlyInAnyOrderElementsOf(others);
            assertThat(worker.prune(PARTITION, ref, 11, all.get(4).endOffset(), () -> true))
                    .as("after a crash")
                    .isEqualTo(edited);
            others.forEach(key -> memory.delete(key).join());
        }
        assertThat(registry.counter("varve.tiering.manifest.parts.given.up").count())
                .isEqualTo(6);
    }

    /** Segments as they leave Raft, whose objects are there, each by itself. */
    private List<SegmentDescriptor> offloaded(int count) {
        List<SegmentDescriptor> segments = new ArrayList<>();
        for (TestSegments.Segment segment : TestSegments.chain(count, 5, 100, true)) {
            SegmentDescriptor of = segment.descriptor();
            long attempt = 100 + of.id().value();
            String key = putObject(of.startOffset(), attempt, List.of(segment));
            segments.add(new SegmentDescriptor(
                    of.id(),
                    of.partition(),
                    of.epoch(),
                    of.state(),
                    of.startOffset(),
                    of.endOffset(),
                    of.acks(),
                    List.of(),
                    List.of(),
                    of.bytes(),
                    of.maxTimestampMs(),
                    of.createdMs(),
                    of.sealedMs(),
                    Optional.of(new ObjectRef(
                            key,
                            attempt,
                            memory.objects().get(key).length,
                            1,
                            of.startOffset(),
                            of.endOffset(),
                            of.maxTimestampMs()))));
        }
        return segments;
    }

    private String putObject(long startOffset, long attempt, List<TestSegments.Segment> segments) {
        String key = ObjectKeys.segment(TestSegments.CLUSTER, PARTITION, startOffset, attempt);
        try {
            memory.put(
                            key,
                            ByteBuffer.wrap(BuiltObject.of(segments, 1 << 20, BlockCompression.NONE)
                                    .bytes()))
                    .join();
        } catch (ObjectFormatException e) {
            throw new AssertionError(e);
        }
        return key;
    }

    @Test
    void leavesThatAreLostAreGoneOver() throws Exception {
        int leaf = ManifestLeaf.SEGMENTS_MAX;
        List<SegmentDescriptor> all = segments(0, 2 * leaf + 10);
        ManifestRef ref = built(Optional.empty(), 1, all);
        memory.overwrite(keysEndingWith("-0000.leaf").get(0), new byte[100]);
        memory.delete(keysEndingWith("-0001.leaf").get(0)).join();
        String named = putObject(0, 1000, TestSegments.chain(2, 5, 100, true));
        String damaged = all.get(2).object().orElseThrow().key();
        putObject(damaged);
        Edited edited = worker.prune(PARTITION, ref, 2, (2L * leaf + 5) * OFFSETS_EACH, () -> true);
        ManifestRef after = edited.manifest().orElseThrow();
        assertThat(after.startOffset()).isEqualTo((2L * leaf + 4) * OFFSETS_EACH);
        assertThat(after.segments()).isEqualTo(6);
        assertThat(edited.superseded()).hasSize(3);
        assertThat(memory.objects())
                .as("what the lost leaf named, found by what it says of itself")
                .doesNotContainKey(named)
                .containsKey(damaged);
        assertThat(get(manifests().segmentAt(after, PARTITION, after.endOffset() - 1)))
                .hasValue(all.get(2 * leaf + 9));
    }

    private List<String> keysEndingWith(String end) {
        return memory.objects().keySet().stream()
                .filter(key -> key.endsWith(end))
                .toList();
    }

    /** The line on manifests in docs/TIERING.md. */
    @Test
    void anExtensionCostsTwoPutsAndUpToFiveGets() {
        ManifestRef small = built(Optional.empty(), 1, segments(0, 64));
        assertCosts(4, () -> built(Optional.of(small), 2, segments(64, 64)));
        int leaf = ManifestLeaf.SEGMENTS_MAX;
        ManifestRef large = built(Optional.empty(), 3, segments(0, leaf + 64));
        assertCosts(5, () -> built(Optional.of(large), 4, segments(leaf + 64, 64)));
    }

    private void assertCosts(long gets, Runnable extension) {
        long putsBefore = store.calls(Verb.PUT);
        long getsBefore = store.calls(Verb.GET);
        extension.run();
        assertThat(store.calls(Verb.PUT) - putsBefore).isEqualTo(2);
        assertThat(store.calls(Verb.GET) - getsBefore).isEqualTo(gets);
    }

    @Test
    void noObjectIsInTwoLeaves() {
        List<SegmentDescriptor> odd = segments(1, ManifestLeaf.SEGMENTS_MAX + 1);
        List<ManifestLeaf> leaves = ManifestLeaf.cut(PARTITION, odd);
        assertThat(leaves).hasSize(2);
        assertThat(leaves.get(0).segments()).hasSize(ManifestLeaf.SEGMENTS_MAX - 1);
        assertThat(leaves.get(1).segments()).hasSize(2);
    }

    /** What is left of a merged object stands behind the rewrites of its first segments, and begins before them. */
    @Test
    void aLeafBeginsWhereNothingBeginsEarlierThatFollows() {
        int before = ManifestLeaf.SEGMENTS_MAX - 3;
        List<SegmentDescriptor> all = new ArrayList<>(segments(0, before - 1));
        all.addAll(partlyRewritten(before - 1, 6, 4));
        all.addAll(segments(before + 5, 10));
        List<ManifestLeaf> leaves = ManifestLeaf.cut(PARTITION, all);
        assertThat(leaves).hasSize(2);
        assertThat(leaves.get(1).startOffset()).isEqualTo((before - 1L) * OFFSETS_EACH);

        ManifestRef ref = built(Optional.empty(), 1, all);
        List<String> named = new ArrayList<>();
        new ManifestObjects(store, TestSegments.CLUSTER, ref, PARTITION)
                .forEachRemaining(object -> named.add(object.key()));
        assertThat(named)
                .as("in the order in which a bucket lists them")
                .isSorted()
                .doesNotHaveDuplicates()
                .containsAll(all.stream()
                        .map(segment -> segment.object().orElseThrow().key())
                        .toList());
        String merged = all.get(before + 4).object().orElseThrow().key();
        KeyRange range = new KeyRange(
                ObjectKeys.segment(TestSegments.CLUSTER, PARTITION, (before - 2L) * OFFSETS_EACH, Long.MAX_VALUE),
                Optional.of(merged));
        TreeSet<String> found = new TreeSet<>();
        new ManifestWalk(store, TestSegments.CLUSTER)
                .walk(
                        ref,
                        PARTITION,
                        range.offsetFrom(TestSegments.CLUSTER, PARTITION),
                        range.offsetUpTo(TestSegments.CLUSTER, PARTITION),
                        segmentVisitor(segment ->
                                found.add(segment.object().orElseThrow().key())));
        assertThat(found).contains(merged);
    }

    /** Segments that were in one object, of which the first ones were rewritten, each by itself. */
    private static List<SegmentDescriptor> partlyRewritten(int from, int count, int rewritten) {
        List<SegmentDescriptor> segments = new ArrayList<>();
        for (int i = from; i < from + count; i++) {
            boolean isLeft = i >= from + rewritten;
            int start = isLeft ? from : i;
            int end = isLeft ? from + count : i + 1;
            segments.add(segment(i, object(start, end, isLeft ? 900 : 2000 + i)));
        }
        return segments;
    }

    private static ObjectRef object(int from, int end, long attempt) {
        long startOffset = (long) from * OFFSETS_EACH;
        return new ObjectRef(
                ObjectKeys.segment(TestSegments.CLUSTER, PARTITION, startOffset, attempt),
                attempt,
                5000 + attempt,
                77,
                startOffset,
                (long) end * OFFSETS_EACH,
                1_000_000);
    }

    @Test
    void tenMillionSegmentsNeedFewMarks() {
        ManifestLeaf first = new ManifestLeaf(PARTITION, segments(0, ManifestLeaf.SEGMENTS_MAX));
        List<ManifestRoot.Leaf> leaves = new ArrayList<>();
        for (int i = 0; i < 10_000_000 / ManifestLeaf.SEGMENTS_MAX; i++) {
            long start = first.endOffset() * i;
            leaves.add(new ManifestRoot.Leaf(
                    1, i, start, start + first.endOffset(), 4096, 5_000_000, 20 + i, 20 + i, 0, 0, 300_000, 0));
        }
        List<ManifestRef.Mark> marks = ManifestMarks.of(new ManifestRoot(PARTITION, 1, leaves), first, 0);
        assertThat(marks).hasSizeBetween(20, 32);
        assertThat(marks.get(marks.size() - 1).bytesBelow()).isEqualTo(4096 * 1234L + (leaves.size() - 1) * 5_000_000L);
    }

    /** Every mark lies at the end of an object, with the bytes and the age of what is below it. */
    private static void assertMarksAreCuts(ManifestRef ref, List<SegmentDescriptor> described) {
        for (ManifestRef.Mark mark : ref.marks()) {
            List<SegmentDescriptor> below = described.stream()
                    .filter(s -> s.endOffset() <= mark.offset())
                    .toList();
            assertThat(below.get(below.size() - 1).object().orElseThrow().endOffset())
                    .isEqualTo(mark.offset());
            assertThat(mark.bytesBelow())
                    .isEqualTo(below.stream().mapToLong(s -> s.bytes()).sum());
            assertThat(mark.ageStampMs())
                    .isEqualTo(
                            below.stream().mapToLong(s -> s.ageStampMs()).max().orElseThrow());
        }
    }

    private List<String> segmentKeys() {
        return memory.objects().keySet().stream()
                .filter(key -> key.endsWith(".seg"))
                .toList();
    }

    /** Retention can take away the first segments that an object holds; what the scrubber asks for goes by keys, which say where objects begin. */
    @Test
    void anObjectThatBeginsBeforeTheManifestIsNamedWhereItBegins_I11() {
        ManifestRef ref = built(Optional.empty(), 1, segments(1, 7));
        String early = segments(1, 1).get(0).object().orElseThrow().key();
        TreeSet<String> named = new TreeSet<>();
        ManifestWalk.Visitor visitor = segmentVisitor(
                segment -> named.add(segment.object().orElseThrow().key()));
        KeyRange range = new KeyRange("", Optional.of(early));
        long upTo = range.offsetUpTo(TestSegments.CLUSTER, PARTITION);
        assertThat(upTo).isZero();
        new ManifestWalk(store, TestSegments.CLUSTER).walk(ref, PARTITION, 0, upTo, visitor);
        assertThat(named).containsExactly(early);
    }

    private static ManifestWalk.Visitor segmentVisitor(Consumer<SegmentDescriptor> segments) {
        return new ManifestWalk.Visitor() {
            @Override
            public void onManifest(String key, long length) {
                // Not asked for.
            }

            @Override
            public void onSegment(SegmentDescriptor segment) {
                segments.accept(segment);
            }
        };
    }

    @Test
    void aGapIsNeverWritten() {
        List<SegmentDescriptor> gap = new ArrayList<>(segments(0, 6));
        gap.remove(2);
        assertThatThrownBy(() -> extend(Optional.empty(), 1, gap))
                .isInstanceOf(InvariantViolation.class)
                .hasMessageContaining("I-8");
    }

    /** S9: what can't be read is no empty stretch. */
    @Test
    void whatTheStoreLosesOrChangesIsNotReturnedAsWritten() {
        for (Fault fault : new Fault[] {
            new Fault.Lie(), new Fault.Flip(100), new Fault.Shorten(1), new Fault.Fail(StoreException.Kind.FORBIDDEN)
        }) {
            store.once(Verb.PUT, fault);
            assertThatThrownBy(() -> extend(Optional.empty(), 1, segments(0, 6)))
                    .isInstanceOf(RemoteReadException.class);
            store.once(Verb.PUT, new Fault.None()).once(Verb.PUT, fault);
            assertThatThrownBy(() -> extend(Optional.empty(), 1, segments(0, 6)))
                    .isInstanceOf(RemoteReadException.class);
        }
    }

    @Test
    void anotherManifestUnderTheSameKeyIsCorrupt() throws Exception {
        ManifestRef ref = built(Optional.empty(), 1, segments(0, 6));
        memory.overwrite(ref.key(), new byte[(int) ref.length()]);
        assertThatThrownBy(() -> get(manifests().segmentAt(ref, PARTITION, 1)))
                .satisfies(e -> assertThat(StoreFailures.root(e))
                        .isInstanceOfSatisfying(
                                RemoteReadException.class,
                                told -> assertThat(told.kind()).isEqualTo(RemoteReadException.Kind.CORRUPT)));
    }

    @Test
    void everyFlippedBitAndEveryCutIsFound() {
        ByteBuffer leaf = new ManifestLeaf(PARTITION, segments(0, 4)).encode(TestSegments.CLUSTER);
        assertAllDamageIsFound(leaf, bytes -> ManifestLeaf.decode(bytes, TestSegments.CLUSTER));
        ManifestLeaf decoded = new ManifestLeaf(PARTITION, segments(0, 4));
        ByteBuffer root = new ManifestRoot(PARTITION, 9, List.of(ManifestRoot.describe(decoded, leaf, 9, 0))).encode();
        assertAllDamageIsFound(root, ManifestRoot::decode);
    }

    private interface Decoder {
        Object decode(ByteBuffer bytes) throws ObjectFormatException;
    }

    private static void assertAllDamageIsFound(ByteBuffer bytes, Decoder decoder) {
        for (int at = 0; at < bytes.limit(); at++) {
            for (int bit = 0; bit < 8; bit++) {
                ByteBuffer changed = ByteBuffer.allocate(bytes.limit())
                        .put(bytes.duplicate())
                        .flip();
                changed.put(at, (byte) (changed.get(at) ^ 1 << bit));
                assertThatThrownBy(() -> decoder.decode(changed)).isInstanceOf(ObjectFormatException.class);
            }
            ByteBuffer cut = bytes.slice(0, at);
            assertThatThrownBy(() -> decoder.decode(cut)).isInstanceOf(ObjectFormatException.class);
        }
    }

    private Edited extend(Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added) {
        return worker.extend(PARTITION, before, generation, added);
    }

    private ManifestRef built(Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added) {
        return extend(before, generation, added).manifest().orElseThrow();
    }

    @Test
    void everyKindOfTroubleIsToldAndCounted_I7() {
        ManifestRef ref = built(Optional.empty(), 1, segments(0, 6));
        Map<StoreException.Kind, RemoteReadException.Kind> kinds = new TreeMap<>(Map.of(
                StoreException.Kind.NOT_FOUND, RemoteReadException.Kind.MISSING,
                StoreException.Kind.FORBIDDEN, RemoteReadException.Kind.FORBIDDEN,
                StoreException.Kind.TIMED_OUT, RemoteReadException.Kind.UNAVAILABLE,
                StoreException.Kind.TRUNCATED, RemoteReadException.Kind.CORRUPT));
        kinds.forEach((met, told) -> {
            store.once(Verb.GET, new Fault.Fail(met));
            assertThatThrownBy(() -> get(manifests().segmentAt(ref, PARTITION, 1)))
                    .satisfies(e -> assertThat(StoreFailures.root(e))
                            .isInstanceOfSatisfying(
                                    RemoteReadException.class,
                                    trouble -> assertThat(trouble.kind()).isEqualTo(told)));
            assertThat(registry.counter("varve.tiering.manifest.read.failures", "kind", told.name())
                            .count())
                    .isEqualTo(1);
        });
    }

    @Test
    void aLookUpThatBreaksIsAFaultAndLeavesNobodyWaiting() throws Exception {
        ManifestRef ref = built(Optional.empty(), 1, segments(0, 6));
        ObjectStore broken = new WrappedObjectStore(memory) {
            private boolean isMended;

            @Override
            protected <T> CompletableFuture<T> around(
                    Verb verb, String key, long bytes, Supplier<CompletableFuture<T>> call) {
                if (!isMended) {
                    isMended = true;
                    throw new OutOfMemoryError("on order");
                }
                return call.get();
            }
        };
        CachedManifests manifests = manifests(broken);
        assertThatThrownBy(() -> get(manifests.segmentAt(ref, PARTITION, 1)))
                .satisfies(e -> assertThat(StoreFailures.root(e)).isInstanceOf(OutOfMemoryError.class));
        assertThat(faults.take()).isInstanceOf(OutOfMemoryError.class);
        assertThat(get(manifests.segmentAt(ref, PARTITION, 1))).isPresent();
    }

    private CachedManifests manifests() {
        return manifests(store);
    }

    private CachedManifests manifests(ObjectStore from) {
        return new CachedManifests(
                from, TestSegments.CLUSTER, 64 << 20, new StepClock(0), registry, place -> true, faults);
    }

    private static <T> T get(CompletableFuture<T> answer) throws Exception {
        return answer.get(20, TimeUnit.SECONDS);
    }

    /** Segments as they leave Raft; two share an object, and the epoch rises every hundred. */
    private static List<SegmentDescriptor> segments(int from, int count) {
        List<SegmentDescriptor> segments = new ArrayList<>();
        for (int i = from; i < from + count; i++) {
            long objectStart = (long) (i / 2 * 2) * OFFSETS_EACH;
            long attempt = 1000 + i / 2;
            ObjectRef object = new ObjectRef(
                    ObjectKeys.segment(TestSegments.CLUSTER, PARTITION, objectStart, attempt),
                    attempt,
                    5000 + i / 2,
                    77,
                    objectStart,
                    objectStart + 2 * OFFSETS_EACH,
                    1_000_000 + i / 2);
            segments.add(segment(i, object));
        }
        return segments;
    }

    private static SegmentDescriptor segment(int number, ObjectRef object) {
        long start = (long) number * OFFSETS_EACH;
        return new SegmentDescriptor(
                new SegmentId(number + 1),
                PARTITION,
                number / 100,
                SegmentDescriptor.State.SEALED,
                start,
                start + OFFSETS_EACH,
                2,
                List.of(),
                List.of(),
                1234,
                1_000_000 + number,
                10,
                20,
                Optional.of(object));
    }
}
