package io.varve.tiering.object;

import static io.varve.tiering.object.ObjectStoreContract.assertFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.protocol.runtime.SystemClock;
import io.varve.tiering.core.Backoff;
import io.varve.tiering.object.ObjectStore.Verb;
import io.varve.tiering.object.StoreException.Kind;
import io.varve.tiering.testing.FaultyObjectStore;
import io.varve.tiering.testing.FaultyObjectStore.Fault;
import io.varve.tiering.testing.MemoryObjectStore;
import io.varve.tiering.testing.SteppedRandomness;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Calls beyond the connections wait for their turn: not without end, not too many of them, and without being counted as the store's trouble. */
class TurnsObjectStoreTest {

    private static final long NO_LIMIT = Long.MAX_VALUE / 2000;

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);

    @BeforeEach
    void anObject() throws Exception {
        memory.put("k", ByteBuffer.allocate(100)).get(10, TimeUnit.SECONDS);
    }

    @Test
    void noMoreCallsThanConnectionsAndTheOthersInTheirOrder() throws Exception {
        TurnsObjectStore store = turns(faulty, 2, 10, 60_000);
        faulty.always(Verb.GET, new Fault.Hold());
        List<CompletableFuture<ByteBuffer>> reads = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            reads.add(store.get("k", i, 1));
        }
        assertThat(faulty.calls(Verb.GET)).isEqualTo(2);
        assertThat(store.waiting()).isEqualTo(3);
        // Other calls have connections of their own.
        assertThat(store.head("k").get(10, TimeUnit.SECONDS)).isPresent();
        faulty.release();
        assertThat(reads.subList(0, 2)).allMatch(CompletableFuture::isDone);
        assertThat(reads.subList(2, 5)).noneMatch(CompletableFuture::isDone);
        assertThat(faulty.calls(Verb.GET)).isEqualTo(4);
        faulty.release();
        faulty.release();
        assertThat(reads).allMatch(read -> read.isDone() && !read.isCompletedExceptionally());
        assertThat(store.waiting()).isZero();
    }

    @Test
    void whoComesWhenTheQueueIsFullIsToldAtOnce() {
        TurnsObjectStore store = turns(faulty, 1, 2, 60_000);
        faulty.always(Verb.GET, new Fault.Hold());
        for (int i = 0; i < 3; i++) {
            assertThat(store.get("k", 0, 1)).isNotDone();
        }
        CompletableFuture<ByteBuffer> tooMany = store.get("k", 0, 1);
        assertThat(tooMany).isDone();
        assertFails(tooMany, Kind.SATURATED);
        assertThatThrownBy(tooMany::join)
                .hasMessageContaining("the store is saturated, 1 calls are under way and 2 wait");
        assertThat(store.refused()).isEqualTo(1);
    }

    @Test
    void whoGetsNoTurnInTimeIsToldSoAndTheCallIsNeverMade() {
        TurnsObjectStore store = turns(faulty, 1, 2, 50);
        faulty.once(Verb.GET, new Fault.Hold());
        CompletableFuture<ByteBuffer> first = store.get("k", 0, 1);
        CompletableFuture<ByteBuffer> late = store.get("k", 0, 1);
        assertFails(late, Kind.SATURATED);
        assertThatThrownBy(late::join).hasMessageContaining("no turn within 50 ms");
        assertThat(store.waiting()).isZero();
        faulty.release();
        assertThat(first).isCompleted();
        assertThat(faulty.calls(Verb.GET)).isEqualTo(1);
    }

    /** One connection, and a call that has all of its deadline to itself before the next one's begins. */
    @Test
    void aCallsDeadlineRunsFromItsTurnOn() throws Exception {
        TurnsObjectStore store = turns(new DeadlineObjectStore(faulty, 300, NO_LIMIT), 1, 2, 10_000);
        faulty.once(Verb.GET, new Fault.Hang());
        CompletableFuture<ByteBuffer> hangs = store.get("k", 0, 1);
        CompletableFuture<ByteBuffer> waits = store.get("k", 0, 1);
        assertThat(waits.get(10, TimeUnit.SECONDS).remaining()).isEqualTo(1);
        assertFails(hangs, Kind.TIMED_OUT);
    }

    @Test
    void tenThousandThatFailAtOnceWhenTheirTurnComesDoNotNest() {
        TurnsObjectStore store = turns(faulty, 1, 10_000, 60_000);
        faulty.once(Verb.GET, new Fault.Hold());
        List<CompletableFuture<ByteBuffer>> reads = new ArrayList<>();
        for (int i = 0; i <= 10_000; i++) {
            reads.add(store.get("k", 0, 1));
        }
        faulty.always(Verb.GET, new Fault.Fail(Kind.FORBIDDEN));
        faulty.release();
        assertThat(reads).allMatch(CompletableFuture::isDone);
        assertFails(reads.get(10_000), Kind.FORBIDDEN);
        faulty.mend();
        assertThat(store.get("k", 0, 1)).isCompleted();
    }

    @Test
    void theCloseTellsThoseWhoWait() {
        TurnsObjectStore store = turns(faulty, 1, 10, 60_000);
        faulty.once(Verb.GET, new Fault.Hold());
        store.get("k", 0, 1);
        CompletableFuture<ByteBuffer> waiting = store.get("k", 0, 1);
        store.close();
        assertFails(waiting, Kind.CLOSED);
    }

    /** Nothing is wrong with the store: nobody else is kept from it, and who was refused isn't asked for twice behind its back. */
    @Test
    void saturationIsNoTroubleOfTheStores() throws Exception {
        Backoff backoff = new Backoff(TimeUnit.HOURS.toNanos(1), TimeUnit.HOURS.toNanos(1), new SteppedRandomness(1));
        ObjectStore store = new BackoffObjectStore(faulty, SystemClock.INSTANCE, backoff, 3_600_000);
        faulty.once(Verb.GET, new Fault.Fail(Kind.SATURATED));
        assertFails(store.get("k", 0, 1), Kind.SATURATED);
        assertThat(faulty.calls(Verb.GET)).isEqualTo(1);
        assertThat(backoff.isHolding()).isFalse();
        assertThat(store.get("k", 0, 1).get(10, TimeUnit.SECONDS).remaining()).isEqualTo(1);
    }

    @Test
    void aCallThatCantBeMadeIsTheCallersMistakeAndCostsNoTurn() {
        TurnsObjectStore store = turns(new FailsToBegin(memory), 1, 10, 60_000);
        for (int i = 0; i < 3; i++) {
            assertThatThrownBy(() -> store.head("k")).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static TurnsObjectStore turns(ObjectStore inner, int callsMax, int waitingMax, long waitMs) {
        return new TurnsObjectStore(inner, callsMax, waitingMax, waitMs, NO_LIMIT);
    }

    private static final class FailsToBegin extends WrappedObjectStore {

        FailsToBegin(ObjectStore inner) {
            super(inner);
        }

        @Override
        protected <T> CompletableFuture<T> around(
                Verb verb, String key, long bytes, java.util.function.Supplier<CompletableFuture<T>> call) {
            throw new IllegalArgumentException("no such key");
        }
    }
}
