package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ClusterMarkerTest {

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);

    @Test
    void aPrefixIsClaimedOnceAndFoundAgain() throws Exception {
        mark("c-1", "c-1").claim("a").get();
        byte[] mark = memory.objects().get("clusters/c-1.mark");
        mark("c-1", "c-1").claim("b").get();
        assertThat(memory.objects().get("clusters/c-1.mark")).isEqualTo(mark);
        assertThat(mark("c-1", "c-1").clusters().get()).containsExactly("c-1");
    }

    @Test
    void aSecondClusterIsRefusedAndLeavesNothing() throws Exception {
        mark("c-1", "c-1").claim("a").get();
        assertRefused(mark("c-2", "c-2").claim("b"));
        assertThat(memory.objects()).hasSize(1);
    }

    @Test
    void ofTwoThatComeAtOnceAtMostOneStays() throws Exception {
        store.always(Verb.PUT, new Fault.Hold());
        CompletableFuture<Void> one = mark("c-1", "c-1").claim("a");
        CompletableFuture<Void> other = mark("c-2", "c-2").claim("b");
        assertThat(store.held()).isEqualTo(2);
        store.mend();
        store.release();
        one.handle((done, failure) -> null).get();
        other.handle((done, failure) -> null).get();
        assertThat(one.isCompletedExceptionally() || other.isCompletedExceptionally())
                .isTrue();
        assertThat(memory.objects()).hasSizeLessThanOrEqualTo(1);
    }

    @Test
    void aPrefixIsTakenOverAndTheOldClusterIsRefusedFromThenOn() throws Exception {
        mark("c-0", "c-0").claim("a").get();
        mark("c-0", "c-1").takeOver("b").get();
        assertRefused(mark("c-0", "c-0").claim("c"));
        mark("c-0", "c-1").claim("d").get();

        mark("c-0", "c-2").takeOver("e").get();
        assertRefused(mark("c-0", "c-1").claim("f"));
        assertThat(memory.objects()).containsOnlyKeys("clusters/c-0.mark");
        assertThat(mark("", "").clusters().get()).containsExactly("c-0");
    }

    private ClusterMarker mark(String bucketId, String clusterId) {
        return new ClusterMarker(store, bucketId, clusterId);
    }

    private static void assertRefused(CompletableFuture<Void> claim) {
        assertThatThrownBy(claim::get)
                .satisfies(e -> assertThat(StoreFailures.root(e))
                        .isInstanceOfSatisfying(StartupException.class, refused -> {
                            assertThat(refused.reason()).isEqualTo(StartupException.Reason.NO_BUCKET);
                            assertThat(refused).hasMessageContaining("c-1").hasMessageContaining("tiering.prefix");
                        }));
    }
}
