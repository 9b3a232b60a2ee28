package io.varve.bookie.offload;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.BookieId;
import io.varve.base.InvariantViolation;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import io.varve.base.TopicId;
import io.varve.bookie.task.TaskOutcome;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentChain;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ManifestEditor;
import io.varve.tiering.api.RemoteReadException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

/** What bookies do for manifests: exactly what the task says, on a chain that is as the task says. */
class ManifestWorksTest {

    private static final PartitionId PARTITION = new PartitionId(new TopicId(1, 1), 0);
    private static final BookieId SELF = new BookieId(1);

    private final FakeEditor editor = new FakeEditor();
    private final BuildManifestWork build = new BuildManifestWork(editor, Runnable::run);
    private final PruneManifestWork prune = new PruneManifestWork(editor, Runnable::run);
    private SegmentChain chain = chain(5);

    @Test
    void theSegmentsOfTheTaskAreHandedOverAndNoOthers() {
        TaskOutcome outcome = build(Optional.empty(), 0, 30);
        assertThat(outcome).isEqualTo(new TaskOutcome.ManifestEdited(Optional.of(ref()), List.of("old")));
        assertThat(editor.added).extracting(SegmentDescriptor::startOffset).containsExactly(0L, 10L, 20L);
    }

    @Test
    void aChainThatMovedOnIsLeftAlone() {
        assertThat(build(Optional.empty(), 5, 30)).isInstanceOf(TaskOutcome.Failed.class);
        assertThat(build(Optional.empty(), 0, 35)).isInstanceOf(TaskOutcome.Failed.class);
        assertThat(build(Optional.of(ref()), 0, 30)).isInstanceOf(TaskOutcome.Failed.class);
        chain = SegmentChain.EMPTY;
        assertThat(build(Optional.empty(), 0, 30)).isInstanceOf(TaskOutcome.Failed.class);
        assertThat(editor.added).isEmpty();
    }

    @Test
    void aStoreThatFailsIsAReasonAndABrokenInvariantIsAFault() {
        editor.answer = () -> {
            throw new RemoteReadException(RemoteReadException.Kind.UNAVAILABLE, "the store is away", null);
        };
        assertThat(build(Optional.empty(), 0, 30)).isEqualTo(new TaskOutcome.Failed("UNAVAILABLE: the store is away"));
        editor.answer = () -> {
            throw new InvariantViolation("planted");
        };
        assertThatThrownBy(() -> build(Optional.empty(), 0, 30))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(InvariantViolation.class);
    }

    @Test
    void aPruningIsOrderedOnALinearizableViewAndStopsWhenItIsWithdrawn_I11() {
        assertThat(prune.isIrreversible()).isTrue();
        TaskOutcome outcome = prune.start(
                        new BookieTask.PruneManifest(7, SELF, PARTITION, ref(), 20), view(), () -> false)
                .join();
        assertThat(outcome).isInstanceOf(TaskOutcome.ManifestEdited.class);
        assertThat(editor.belowOffset).isEqualTo(20);
        assertThat(editor.wanted.getAsBoolean()).isFalse();
    }

    private TaskOutcome build(Optional<ManifestRef> before, long startOffset, long endOffset) {
        return build.start(
                        new BookieTask.BuildManifest(7, SELF, PARTITION, before, startOffset, endOffset),
                        view(),
                        () -> true)
                .join();
    }

    private MetadataView view() {
        return (MetadataView) Proxy.newProxyInstance(
                ManifestWorksTest.class.getClassLoader(),
                new Class<?>[] {MetadataView.class},
                (proxy, method, args) -> {
                    if (method.getName().equals("partition")) {
                        return Optional.of(new PartitionState(PARTITION, 1, 0, 0, chain));
                    }
                    throw new UnsupportedOperationException(method.getName());
                });
    }

    private static SegmentChain chain(int segments) {
        SegmentChain chain = SegmentChain.EMPTY;
        for (int i = 0; i < segments; i++) {
            long start = i * 10L;
            chain = chain.append(new SegmentDescriptor(
                    new SegmentId(i + 1),
                    PARTITION,
                    0,
                    SegmentDescriptor.State.SEALED,
                    start,
                    start + 10,
                    2,
                    List.of(),
                    List.of(),
                    100,
                    1,
                    1,
                    1,
                    Optional.of(new ObjectRef("o" + i, i, 1, 1, start, start + 10, 1))));
        }
        return chain;
    }

    private static ManifestRef ref() {
        return new ManifestRef("root", 7, 0, 30, 3, 300, 1, 100, 1, List.of(new ManifestRef.Mark(30, 300, 1)));
    }

    private static final class FakeEditor implements ManifestEditor {
        private final List<SegmentDescriptor> added = new ArrayList<>();
        private Supplier<Edited> answer = () -> new Edited(Optional.of(ref()), List.of("old"));
        private long belowOffset;
        private BooleanSupplier wanted;

        @Override
        public Edited extend(
                PartitionId partition,
                Optional<ManifestRef> before,
                long generation,
                List<SegmentDescriptor> segments) {
            added.addAll(segments);
            return answer.get();
        }

        @Override
        public Edited prune(
                PartitionId partition, ManifestRef manifest, long generation, long below, BooleanSupplier isWanted) {
            belowOffset = below;
            wanted = isWanted;
            return answer.get();
        }
    }
}
