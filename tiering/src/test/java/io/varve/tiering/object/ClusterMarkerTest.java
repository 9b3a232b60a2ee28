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
        new ClusterMarker(store, "c-1").claim("a").get();
        byte[] mark = memory.objects().get("clusters/c-1.mark");
        new ClusterMarker(store, "c-1").claim("b").get();
        assertThat(memory.objects().get("clusters/c-1.mark")).isEqualTo(mark);
        assertThat(new ClusterMarker(store, "c-1").clusters().get()).containsExactly("c-1");
    }

    @Test
    void aSecondClusterIsRefusedAndLeavesNothing() throws Exception {
        new ClusterMarker(store, "c-1").claim("a").get();
        assertRefused(new ClusterMarker(store, "c-2").claim("b"));
        assertThat(memory.objects()).hasSize(1);
    }

    @Test
    void ofTwoThatComeAtOnceAtMostOneStays() throws Exception {
        store.always(Verb.PUT, new Fault.Hold());
        CompletableFuture<Void> one = new ClusterMarker(store, "c-1").claim("a");
        CompletableFuture<Void> other = new ClusterMarker(store, "c-2").claim("b");
        assertThat(store.held()).isEqualTo(2);
        store.mend();
        store.release();
        one.handle((done, failure) -> null).get();
        other.handle((done, failure) -> null).get();
        assertThat(one.isCompletedExceptionally() || other.isCompletedExceptionally())
                .isTrue();
        assertThat(memory.objects()).hasSizeLessThanOrEqualTo(1);
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
