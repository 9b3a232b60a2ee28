package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Replica;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.serving.log.LogError;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiConsumer;
import org.junit.jupiter.api.Test;

/** Segments are found wherever they are described, and trouble is told as trouble (I-7). */
class ChainLookupTest {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 2), 0);

    private final FakeManifests manifests = new FakeManifests();
    private final PartitionLoop loop = new PartitionLoop(
            new HereAndNow(),
            (what, fault) -> {
                throw new AssertionError(what, fault);
            },
            1 << 20,
            4);
    private PartitionState state = state(manifest(1, 0, 30), segment(30, 40, 1_040), segment(40, -1, -1));
    private final ChainLookup lookup = new ChainLookup(manifests, loop, () -> state);

    ChainLookupTest() {
        manifests.describe("root-1", segment(0, 10, 1_010), segment(10, 20, 1_020), segment(20, 30, 1_030));
    }

    @Test
    void anOffsetIsFoundInTheManifestOrInTheChain() {
        assertThat(from(0).startOffset()).isZero();
        assertThat(from(29).startOffset()).isEqualTo(20);
        assertThat(from(30).startOffset()).isEqualTo(30);
        assertThat(from(1_000).startOffset()).as("the open one").isEqualTo(40);
    }

    @Test
    void aReaderInOrderAsksOnceForEachSegment() {
        for (long offset = 0; offset < 30; offset++) {
            assertThat(from(offset).covers(offset)).isTrue();
        }
        assertThat(manifests.asked).hasSize(3);
    }

    @Test
    void aTimeIsLookedForInTheManifestFirstAndThenInTheChain() {
        assertThat(atTimestamp(1_015, 0).startOffset()).isEqualTo(10);
        assertThat(atTimestamp(1_015, 20).startOffset()).isEqualTo(20);
        assertThat(atTimestamp(1_031, 0).startOffset()).isEqualTo(30);
        assertThat(atTimestamp(9_999, 0).startOffset())
                .as("the open one may have it")
                .isEqualTo(40);
    }

    @Test
    void theLargestTimeMayBeInTheManifest() {
        assertThat(most(0)).isEqualTo(1_040);
        state = state(manifest(1, 0, 30), segment(30, 40, 500), segment(40, -1, -1));
        assertThat(most(0)).isEqualTo(1_030);
        assertThat(most(30)).isEqualTo(500);
    }

    @Test
    void aReaderOfAnOldPointerIsSentToTheNewestOne() {
        manifests.describe("root-2", segment(0, 10, 1), segment(10, 20, 2), segment(20, 30, 3), segment(30, 40, 4));
        manifests.beforeAnswer = () -> {
            manifests.roots.remove("root-1");
            state = state(manifest(2, 0, 40), segment(40, -1, -1));
        };
        assertThat(from(15).startOffset()).isEqualTo(10);
        assertThat(manifests.asked).containsExactly("root-1", "root-2");
    }

    @Test
    void aMissingManifestIsTroubleAndNeverEmptiness_I7() {
        manifests.roots.clear();
        lookup.from(15, (found, error) -> assertThat(error).isEqualTo(LogError.STORAGE_UNAVAILABLE));
        lookup.atTimestamp(1_000, 0, (found, error) -> assertThat(error).isEqualTo(LogError.STORAGE_UNAVAILABLE));
        state = state(manifest(1, 0, 30), segment(30, -1, -1));
        lookup.timestampMsMost(0, (found, error) -> assertThat(error).isEqualTo(LogError.STORAGE_UNAVAILABLE));
        assertThat(manifests.asked).hasSize(3);
    }

    @Test
    void aManifestWithAGapIsTrouble_I7() {
        manifests.describe("root-1", segment(0, 10, 1), segment(20, 30, 3));
        lookup.from(15, (found, error) -> assertThat(error).isEqualTo(LogError.STORAGE_UNAVAILABLE));
        assertThat(manifests.asked).hasSize(1);
    }

    private SegmentDescriptor from(long offset) {
        Answer<Optional<SegmentDescriptor>> answer = new Answer<>();
        lookup.from(offset, answer);
        return answer.value.orElseThrow();
    }

    private SegmentDescriptor atTimestamp(long timestampMs, long offset) {
        Answer<Optional<SegmentDescriptor>> answer = new Answer<>();
        lookup.atTimestamp(timestampMs, offset, answer);
        return answer.value.orElseThrow();
    }

    private long most(long offset) {
        Answer<Long> answer = new Answer<>();
        lookup.timestampMsMost(offset, answer);
        return answer.value;
    }

    private static final class Answer<T> implements BiConsumer<T, LogError> {
        private T value;

        @Override
        public void accept(T found, LogError error) {
            assertThat(error).isEqualTo(LogError.NONE);
            value = found;
        }
    }

    private static ManifestRef manifest(long generation, long startOffset, long endOffset) {
        return new ManifestRef(
                "root-" + generation,
                generation,
                startOffset,
                endOffset,
                3,
                300,
                1_030,
                100,
                1,
                List.of(new ManifestRef.Mark(endOffset, 300, 1_030)));
    }

    private static SegmentDescriptor segment(long startOffset, long endOffset, long maxTimestampMs) {
        boolean isOpen = endOffset < 0;
        return new SegmentDescriptor(
                new SegmentId(1 + startOffset),
                PARTITION,
                0,
                isOpen ? SegmentDescriptor.State.OPEN : SegmentDescriptor.State.SEALED,
                startOffset,
                endOffset,
                2,
                isOpen ? List.of(new Replica(new BookieId(1), 1)) : List.of(),
                List.of(),
                isOpen ? -1 : 100,
                maxTimestampMs,
                0,
                isOpen ? -1 : maxTimestampMs,
                isOpen
                        ? Optional.empty()
                        : Optional.of(
                                new ObjectRef("o" + startOffset, 1, 1, 1, startOffset, endOffset, maxTimestampMs)));
    }

    private static PartitionState state(ManifestRef manifest, SegmentDescriptor... segments) {
        SegmentChain chain = SegmentChain.EMPTY.withManifest(Optional.of(manifest));
        for (SegmentDescriptor segment : segments) {
            chain = chain.append(segment);
        }
        return new PartitionState(PARTITION, 1, 0, 0, chain);
    }

    /** Manifests in a map, by the key of the root. */
    private static final class FakeManifests implements ChainManifests {

        private final Map<String, List<SegmentDescriptor>> roots = new TreeMap<>();
        private final List<String> asked = new ArrayList<>();
        private Runnable beforeAnswer = () -> {};

        void describe(String key, SegmentDescriptor... segments) {
            roots.put(key, List.of(segments));
        }

        private CompletableFuture<List<SegmentDescriptor>> read(ManifestRef manifest) {
            asked.add(manifest.key());
            Runnable first = beforeAnswer;
            beforeAnswer = () -> {};
            first.run();
            List<SegmentDescriptor> found = roots.get(manifest.key());
            return found != null
                    ? CompletableFuture.completedFuture(found)
                    : CompletableFuture.failedFuture(new RemoteReadException(Kind.MISSING, manifest.key(), null));
        }

        @Override
        public CompletableFuture<Optional<SegmentDescriptor>> segmentAt(
                ManifestRef manifest, PartitionId partition, long offset) {
            return read(manifest)
                    .thenApply(all -> all.stream().filter(s -> s.covers(offset)).findFirst());
        }

        @Override
        public CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
                ManifestRef manifest, PartitionId partition, long timestampMs, long fromOffset) {
            return read(manifest)
                    .thenApply(all -> all.stream()
                            .filter(s -> s.endOffset() > fromOffset && s.maxTimestampMs() >= timestampMs)
                            .findFirst());
        }

        @Override
        public CompletableFuture<Long> timestampMsMost(ManifestRef manifest, PartitionId partition, long fromOffset) {
            return read(manifest)
                    .thenApply(all -> all.stream()
                            .filter(s -> s.endOffset() > fromOffset)
                            .mapToLong(SegmentDescriptor::maxTimestampMs)
                            .max()
                            .orElse(-1));
        }
    }
}
