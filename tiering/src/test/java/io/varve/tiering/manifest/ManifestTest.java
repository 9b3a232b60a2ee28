package io.varve.tiering.manifest;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.core.ObjectFormatException;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.object.StoreException;
import io.varve.tiering.object.StoreFailures;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.TestSegments;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** A chain's offloaded head in manifests: found at two GETs, extended without touching what is read, never with a gap (I-8). */
class ManifestTest {

    private static final PartitionId PARTITION = TestSegments.PARTITION;
    private static final int OFFSETS_EACH = 10;

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);
    private final ManifestWriter writer = new ManifestWriter(store, TestSegments.CLUSTER);

    @Test
    void everyOffsetTimeAndEpochOfManySegmentsIsFound() throws Exception {
        int count = 2 * ManifestLeaf.SEGMENTS_MAX + 100;
        List<SegmentDescriptor> all = segments(0, count);
        ManifestRef ref = extend(Optional.empty(), 1, all, 0).manifest();
        assertThat(ref.segments()).isEqualTo(count);
        assertThat(ref.endOffset()).isEqualTo((long) count * OFFSETS_EACH);

        CachedManifests manifests = manifests();
        for (int i = 0; i < count; i += 97) {
            SegmentDescriptor wanted = all.get(i);
            assertThat(get(manifests.segmentAt(ref, PARTITION, wanted.startOffset() + 3)))
                    .hasValue(wanted);
            assertThat(get(manifests.segmentAtTimestamp(ref, PARTITION, wanted.maxTimestampMs())))
                    .hasValue(wanted);
        }
        assertThat(get(manifests.segmentAt(ref, PARTITION, ref.endOffset()))).isEmpty();
        assertThat(get(manifests.segmentAtTimestamp(ref, PARTITION, ref.maxTimestampMs() + 1)))
                .isEmpty();
        assertThat(get(manifests.lastSegmentOfEpoch(ref, PARTITION, 5))
                        .orElseThrow()
                        .epoch())
                .isEqualTo(5);
        assertThat(get(manifests.lastSegmentOfEpoch(ref, PARTITION, 1_000_000))).hasValue(all.get(count - 1));
    }

    @Test
    void aColdLookUpCostsTwoGetsAndAWarmOneNone() throws Exception {
        ManifestRef ref = extend(Optional.empty(), 1, segments(0, 500), 0).manifest();
        CachedManifests manifests = manifests();
        long before = store.calls(Verb.GET);
        get(manifests.segmentAt(ref, PARTITION, 2000));
        assertThat(store.calls(Verb.GET) - before).isEqualTo(2);
        get(manifests.segmentAt(ref, PARTITION, 3000));
        assertThat(store.calls(Verb.GET) - before).isEqualTo(2);
    }

    @Test
    void smallExtensionsAreCompactedAsTheyComeAndReadersOfTheOldGoOn() throws Exception {
        ManifestRef first = extend(Optional.empty(), 1, segments(0, 50), 0).manifest();
        TreeSet<String> superseded = new TreeSet<>();
        ManifestRef last = first;
        for (int i = 1; i < 10; i++) {
            ManifestWriter.Written written = extend(Optional.of(last), i + 1, segments(i * 50, 50), 0);
            superseded.addAll(written.superseded());
            last = written.manifest();
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
    void leavesBelowTheLogsStartAreDropped() throws Exception {
        int leaf = ManifestLeaf.SEGMENTS_MAX;
        ManifestRef first =
                extend(Optional.empty(), 1, segments(0, 2 * leaf), 0).manifest();
        long start = (leaf + 5L) * OFFSETS_EACH;
        ManifestWriter.Written written = extend(Optional.of(first), 2, List.of(), start);
        assertThat(written.manifest().startOffset()).isEqualTo(start);
        assertThat(written.manifest().segments()).isEqualTo(leaf);
        assertThat(written.superseded()).hasSize(2);
        assertThat(get(manifests().segmentAt(written.manifest(), PARTITION, start - 1)))
                .isEmpty();
        assertThat(get(manifests().segmentAt(written.manifest(), PARTITION, start)))
                .isPresent();
    }

    @Test
    void aGapIsNeverWritten() {
        List<SegmentDescriptor> gap = new ArrayList<>(segments(0, 5));
        gap.remove(2);
        assertThatThrownBy(() -> extend(Optional.empty(), 1, gap, 0))
                .isInstanceOf(InvariantViolation.class)
                .hasMessageContaining("I-8");
    }

    @Test
    void whatTheStoreLosesOrChangesIsNotReturnedAsWritten() {
        for (Fault fault : new Fault[] {
            new Fault.Lie(), new Fault.Flip(100), new Fault.Shorten(1), new Fault.Fail(StoreException.Kind.FORBIDDEN)
        }) {
            store.once(Verb.PUT, fault);
            assertThatThrownBy(() -> extend(Optional.empty(), 1, segments(0, 5), 0))
                    .isInstanceOf(ExecutionException.class);
            store.once(Verb.PUT, new Fault.None()).once(Verb.PUT, fault);
            assertThatThrownBy(() -> extend(Optional.empty(), 1, segments(0, 5), 0))
                    .isInstanceOf(ExecutionException.class);
        }
    }

    @Test
    void anotherManifestUnderTheSameKeyIsCorrupt() throws Exception {
        ManifestRef ref = extend(Optional.empty(), 1, segments(0, 5), 0).manifest();
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
        ByteBuffer root = new ManifestRoot(PARTITION, 9, List.of(ManifestRoot.describe(decoded, leaf, 9))).encode();
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

    private ManifestWriter.Written extend(
            Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added, long logStartOffset)
            throws Exception {
        return get(writer.extend(PARTITION, before, generation, added, logStartOffset));
    }

    private CachedManifests manifests() {
        return new CachedManifests(store, TestSegments.CLUSTER, 64 << 20);
    }

    private static <T> T get(CompletableFuture<T> answer) throws Exception {
        return answer.get(20, TimeUnit.SECONDS);
    }

    /** Segments as they leave Raft; two share an object, and the epoch rises every hundred. */
    private static List<SegmentDescriptor> segments(int from, int count) {
        List<SegmentDescriptor> segments = new ArrayList<>();
        for (int i = from; i < from + count; i++) {
            long start = (long) i * OFFSETS_EACH;
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
            segments.add(new SegmentDescriptor(
                    new SegmentId(i + 1),
                    PARTITION,
                    i / 100,
                    SegmentDescriptor.State.SEALED,
                    start,
                    start + OFFSETS_EACH,
                    2,
                    List.of(),
                    List.of(),
                    1234,
                    1_000_000 + i,
                    10,
                    20,
                    Optional.of(object)));
        }
        return segments;
    }
}
