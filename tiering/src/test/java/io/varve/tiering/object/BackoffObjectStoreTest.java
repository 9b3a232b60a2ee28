package io.varve.tiering.object;

import static org.assertj.core.api.Assertions.assertThat;

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
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The faults of cases S15 and C15 as callers see them: not at all, or told, and never by more requests than need be. */
class BackoffObjectStoreTest {

    private final MemoryObjectStore memory = new MemoryObjectStore();
    private final FaultyObjectStore faulty = new FaultyObjectStore(memory);

    @Test
    void throttlingIsWaitedOut() throws Exception {
        ObjectStore store = patient(60_000);
        for (Kind kind : new Kind[] {Kind.THROTTLED, Kind.TIMED_OUT, Kind.UNREACHABLE, Kind.TRUNCATED}) {
            faulty.once(Verb.PUT, new Fault.Fail(kind)).once(Verb.PUT, new Fault.Fail(kind));
        }
        store.put("k", ByteBuffer.allocate(10)).get(10, TimeUnit.SECONDS);
        assertThat(memory.objects()).containsKey("k");
        assertThat(faulty.calls(Verb.PUT)).isEqualTo(9);
    }

    @Test
    void whatWaitingDoesNotMendIsToldAtOnce() {
        ObjectStore store = patient(60_000);
        for (Kind kind : new Kind[] {Kind.FORBIDDEN, Kind.NO_BUCKET, Kind.UPLOAD_GONE, Kind.REFUSED, Kind.DISK}) {
            faulty.once(Verb.PUT, new Fault.Fail(kind));
            ObjectStoreContract.assertFails(store.put("k", ByteBuffer.allocate(10)), kind);
        }
        assertThat(faulty.calls(Verb.PUT)).isEqualTo(5);
    }

    @Test
    void aCallIsGivenUpWhenItsTimeIsOver() {
        faulty.down(Kind.THROTTLED);
        ObjectStoreContract.assertFails(patient(0).head("k"), Kind.THROTTLED);
        assertThat(faulty.calls(Verb.HEAD)).isEqualTo(1);
    }

    /** One object that is shorter than it should be says nothing of the bucket: others don't wait for it. */
    @Test
    void whatComesTooShortIsAskedForTwiceMoreAndHoldsUpNobodyElse() throws Exception {
        Backoff backoff = new Backoff(TimeUnit.HOURS.toNanos(1), TimeUnit.HOURS.toNanos(1), new SteppedRandomness(1));
        ObjectStore store = new BackoffObjectStore(faulty, SystemClock.INSTANCE, backoff, 3_600_000);
        faulty.always(Verb.GET, new Fault.Fail(Kind.TRUNCATED));
        ObjectStoreContract.assertFails(store.get("k", 0, 1), Kind.TRUNCATED);
        assertThat(faulty.calls(Verb.GET)).isEqualTo(3);
        assertThat(backoff.isHolding()).isFalse();
        store.head("k").get(10, TimeUnit.SECONDS);
    }

    /** C15: total requests during SlowDown on 30 % of the calls stay below 1.5 times the normal. */
    @Test
    void slowDownOnAThirdOfTheCallsCostsLessThanHalfAsManyAgain() throws Exception {
        ObjectStore store = patient(60_000);
        SplittableRandom random = new SplittableRandom(3);
        int calls = 400;
        List<CompletableFuture<?>> answers = new ArrayList<>();
        for (int i = 0; i < calls * 2; i++) {
            if (random.nextInt(10) < 3) {
                faulty.once(Verb.HEAD, new Fault.Fail(Kind.THROTTLED));
            } else {
                faulty.once(Verb.HEAD, new Fault.None());
            }
        }
        for (int i = 0; i < calls; i++) {
            answers.add(store.head("k" + i));
        }
        for (CompletableFuture<?> answer : answers) {
            answer.get(60, TimeUnit.SECONDS);
        }
        assertThat(faulty.calls(Verb.HEAD)).isBetween((long) calls, calls * 3L / 2);
    }

    private ObjectStore patient(long giveUpAfterMs) {
        return new BackoffObjectStore(
                faulty,
                SystemClock.INSTANCE,
                new Backoff(1_000_000, 20_000_000, new SteppedRandomness(1)),
                giveUpAfterMs);
    }
}
