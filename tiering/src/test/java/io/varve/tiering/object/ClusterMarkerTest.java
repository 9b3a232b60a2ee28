package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.metadata.testing.StepClock;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class ClusterMarkerTest {

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore store = new FaultyObjectStore(memory);

    @Test
    void aPrefixIsClaimedOnceAndFoundAgain() throws Exception {
        mark("c-1", "c-1").claim("a", Optional.empty()).get();
        byte[] mark = memory.objects().get("clusters/c-1.mark");
        mark("c-1", "c-1").claim("b", Optional.empty()).get();
        assertThat(memory.objects().get("clusters/c-1.mark")).isEqualTo(mark);
        assertThat(mark("c-1", "c-1").clusters().get()).containsExactly("c-1");
    }

    @Test
    void aSecondClusterIsRefusedAndLeavesNothing() throws Exception {
        mark("c-1", "c-1").claim("a", Optional.empty()).get();
        assertRefused(mark("c-2", "c-2").claim("b", Optional.empty()));
        assertThat(memory.objects()).hasSize(1);
    }

    /** A directory that isn't mounted, or another bucket than the other bookies': what is uploaded there nobody would find. */
    @Test
    void aBucketWithoutTheClustersObjectsIsNotItsBucket() throws Exception {
        CompletableFuture<Void> elsewhere = mark("c-1", "c-1").claim("a", Optional.of("c-1/k"));
        assertThatThrownBy(elsewhere::get)
                .satisfies(e -> assertThat(StoreFailures.root(e)).isInstanceOf(StartupException.class))
                .hasMessageContaining("nor its object c-1/k");
        assertThat(memory.objects()).isEmpty();

        memory.put("c-1/k", ByteBuffer.allocate(1)).get();
        mark("c-1", "c-1").claim("b", Optional.of("c-1/k")).get();
        assertThat(memory.objects()).containsKey("clusters/c-1.mark");
        memory.delete("c-1/k").get();
        mark("c-1", "c-1").claim("c", Optional.of("c-1/k")).get();
    }

    /** An operator's look at a bucket that isn't the cluster's would call everything lost. */
    @Test
    void whoOnlyLooksIsRefusedWhereAnotherClustersObjectsAreAndLeavesNoMark() throws Exception {
        Optional<String> known = Optional.of("c-1/k");
        assertThatThrownBy(mark("c-1", "c-1").checkHeld(known)::get)
                .satisfies(e -> assertThat(StoreFailures.root(e)).isInstanceOf(StartupException.class))
                .hasMessageContaining("nor its object c-1/k");
        mark("c-1", "c-1").checkHeld(Optional.empty()).get();
        assertThat(memory.objects()).isEmpty();

        memory.put("c-1/k", ByteBuffer.allocate(1)).get();
        mark("c-1", "c-1").checkHeld(known).get();
        assertThat(memory.objects()).containsOnlyKeys("c-1/k");

        mark("c-1", "c-1").claim("a", known).get();
        memory.delete("c-1/k").get();
        mark("c-1", "c-1").checkHeld(known).get();
        mark("c-1", "c-2").takeOver("b").get();
        assertRefused(mark("c-1", "c-1").checkHeld(known));
        mark("c-1", "c-2").checkHeld(known).get();

        store.always(Verb.LIST, new Fault.Fail(StoreException.Kind.FORBIDDEN));
        assertThatThrownBy(mark("c-1", "c-2").checkHeld(known)::get)
                .as("not known is not another's")
                .satisfies(e -> assertThat(StoreFailures.root(e)).isInstanceOf(StoreException.class));
    }

    @Test
    void ofTwoThatComeAtOnceAtMostOneStays() throws Exception {
        store.always(Verb.PUT, new Fault.Hold());
        CompletableFuture<Void> one = mark("c-1", "c-1").claim("a", Optional.empty());
        CompletableFuture<Void> other = mark("c-2", "c-2").claim("b", Optional.empty());
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
        mark("c-0", "c-0").claim("a", Optional.empty()).get();
        mark("c-0", "c-1").takeOver("b").get();
        assertRefused(mark("c-0", "c-0").claim("c", Optional.empty()));
        mark("c-0", "c-1").claim("d", Optional.empty()).get();

        mark("c-0", "c-2").takeOver("e").get();
        assertRefused(mark("c-0", "c-1").claim("f", Optional.empty()));
        assertThat(memory.objects()).containsOnlyKeys("clusters/c-0.mark");
        assertThat(mark("", "").clusters().get()).containsExactly("c-0");
    }

    /** Each is told what became of it: the one whose objects were taken over, and the one that was interrupted before it took them over. */
    @Test
    void whoIsRefusedByARestorationIsToldWhichOne() throws Exception {
        mark("c-0", "c-0").claim("a", Optional.empty()).get();
        assertThatThrownBy(mark("c-0", "c-1").claim("b", Optional.empty())::get)
                .hasMessageContaining("the restoration to c-1 did not end");
        mark("c-0", "c-1").takeOver("b").get();
        assertThatThrownBy(mark("c-0", "c-0").claim("c", Optional.empty())::get)
                .hasMessageContaining("was taken over by cluster c-1, which was restored from it");
        assertThatThrownBy(mark("c-9", "c-9").claim("d", Optional.empty())::get)
                .hasMessageContaining("belongs to cluster c-0, not to c-9");
    }

    /** A restoration is tried while the old cluster still runs, and that would go on deleting what retention says. */
    @Test
    void whatIsLeftOfAClusterWhoseObjectsWereTakenOverChangesNothing() throws Exception {
        mark("c-0", "c-0").claim("a", Optional.empty()).get();
        StepClock clock = new StepClock(0);
        ObjectStore old = owned(mark("c-0", "c-0"), Optional.empty(), clock);
        for (String key : new String[] {"c-0/1", "c-0/2", "c-0/3"}) {
            old.put(key, ByteBuffer.allocate(1)).get();
        }
        old.delete("c-0/1").get();
        old.deleteAll(List.of("c-0/2")).get();
        assertThat(store.calls(Verb.GET)).as("one look for all").isEqualTo(1);

        mark("c-0", "c-1").takeOver("b").get();
        clock.advance(OwnedObjectStore.LOOK_MS);
        assertFails(old.delete("c-0/3"), StoreException.Kind.REFUSED);
        assertFails(old.put("c-0/4", ByteBuffer.allocate(1)), StoreException.Kind.REFUSED);
        assertFails(old.deleteAll(List.of("c-0/3")), StoreException.Kind.REFUSED);
        ObjectStore restored = owned(mark("c-0", "c-1"), Optional.empty(), clock);
        store.once(Verb.GET, new Fault.Fail(StoreException.Kind.UNREACHABLE));
        assertThatThrownBy(restored.delete("c-0/3")::get)
                .satisfies(e -> assertThat(StoreFailures.of(e))
                        .hasMessageStartingWith("whose the bucket is can't be known: ")
                        .extracting(StoreException::kind)
                        .isEqualTo(StoreException.Kind.UNREACHABLE));
        assertThat(memory.objects()).containsKey("c-0/3");
        restored.delete("c-0/3").get();
        assertThat(memory.objects()).doesNotContainKey("c-0/3");
    }

    /** The check at the start had no verdict, for the store was away or slow, or is switched off. */
    @Test
    void whoCouldNotClaimABucketWhenItStartedClaimsItBeforeTheFirstChange() throws Exception {
        StepClock clock = new StepClock(0);
        ObjectStore fresh = owned(mark("c-0", "c-0"), Optional.empty(), clock);
        store.once(Verb.LIST, new Fault.Fail(StoreException.Kind.UNREACHABLE));
        assertFails(fresh.put("c-0/1", ByteBuffer.allocate(1)), StoreException.Kind.UNREACHABLE);
        fresh.put("c-0/1", ByteBuffer.allocate(1)).get();
        assertThat(memory.objects()).containsKeys("clusters/c-0.mark", "c-0/1");

        ObjectStore stranger = owned(mark("c-1", "c-1"), Optional.empty(), clock);
        assertFails(stranger.put("c-1/1", ByteBuffer.allocate(1)), StoreException.Kind.REFUSED);
        assertThat(memory.objects()).doesNotContainKey("c-1/1");
    }

    @Test
    void whereNeitherTheMarkNorTheClustersObjectsAreNothingIsWritten() throws Exception {
        ObjectStore elsewhere = owned(mark("c-0", "c-0"), Optional.of("c-0/0"), new StepClock(0));
        assertFails(elsewhere.put("c-0/1", ByteBuffer.allocate(1)), StoreException.Kind.REFUSED);
        assertThat(memory.objects()).isEmpty();
    }

    /** It was restored under a new id before its bucket was lost: the mark that isn't there names nobody else. */
    @Test
    void aRestoredClusterBeginsABucketAnew() throws Exception {
        StepClock clock = new StepClock(0);
        ObjectStore restored = owned(mark("c-0", "c-1"), Optional.empty(), clock);
        restored.put("c-0/1", ByteBuffer.allocate(1)).get();
        clock.advance(OwnedObjectStore.LOOK_MS);
        restored.put("c-0/2", ByteBuffer.allocate(1)).get();
        memory.delete("clusters/c-0.mark").get();
        clock.advance(OwnedObjectStore.LOOK_MS);
        assertFails(restored.put("c-0/3", ByteBuffer.allocate(1)), StoreException.Kind.REFUSED);
        restored.put("c-0/3", ByteBuffer.allocate(1)).get();
    }

    /** A directory that is no longer mounted, a bucket that was emptied: it isn't known any more whose it is. */
    @Test
    void whereTheMarkIsGoneNothingIsChangedUnlessTheClustersObjectsAreThere() throws Exception {
        StepClock clock = new StepClock(0);
        ObjectStore owner = owned(mark("c-0", "c-0"), Optional.of("c-0/1"), clock);
        memory.put("c-0/1", ByteBuffer.allocate(1)).get();
        owner.put("c-0/2", ByteBuffer.allocate(1)).get();
        memory.delete("clusters/c-0.mark").get();
        clock.advance(OwnedObjectStore.LOOK_MS);
        assertFails(owner.delete("c-0/2"), StoreException.Kind.REFUSED);
        assertThat(memory.objects()).containsKey("c-0/2");
        owner.delete("c-0/2").get();
        assertThat(memory.objects()).as("claimed again").containsOnlyKeys("clusters/c-0.mark", "c-0/1");

        memory.delete("clusters/c-0.mark").get();
        memory.delete("c-0/1").get();
        clock.advance(OwnedObjectStore.LOOK_MS);
        assertFails(owner.put("c-0/3", ByteBuffer.allocate(1)), StoreException.Kind.REFUSED);
        assertFails(owner.put("c-0/3", ByteBuffer.allocate(1)), StoreException.Kind.REFUSED);
        assertThat(memory.objects()).isEmpty();
    }

    private ObjectStore owned(ClusterMarker marker, Optional<String> known, StepClock clock) {
        return new OwnedObjectStore(store, () -> marker.claim("t", known), marker::checkOurs, clock);
    }

    private static void assertFails(CompletableFuture<?> call, StoreException.Kind kind) {
        assertThatThrownBy(call::get)
                .satisfies(e -> assertThat(StoreFailures.of(e).kind()).isEqualTo(kind));
    }

    private ClusterMarker mark(String bucketId, String clusterId) {
        return new ClusterMarker(store, bucketId, clusterId);
    }

    private static void assertRefused(CompletableFuture<Void> claim) {
        assertThatThrownBy(claim::get)
                .satisfies(e -> assertThat(StoreFailures.root(e))
                        .isInstanceOfSatisfying(StartupException.class, refused -> {
                            assertThat(refused.reason()).isEqualTo(StartupException.Reason.NO_BUCKET);
                            assertThat(refused.getMessage())
                                    .contains("c-1")
                                    .containsAnyOf("tiering.prefix", "was taken over by", "did not end");
                        }));
    }
}
