package io.varve.serving.core.partition;

import static io.varve.serving.core.partition.SteppedLeader.EPOCH;
import static io.varve.serving.core.partition.SteppedLeader.segment;
import static io.varve.serving.core.partition.SteppedLeader.state;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.serving.core.partition.LeaderEffects.Deposition;
import io.varve.serving.core.partition.PartitionLeader.AllocationFailure;
import io.varve.serving.core.partition.PartitionLeader.Outcome;
import org.junit.jupiter.api.Test;

/** {@link Fencing} and {@link Carrying}, step by step. The old owner's open segment is 5, from offset 100 on. */
class TakeoverTest {

    private final SteppedLeader stepped = new SteppedLeader();
    private final PartitionLeader<String> leader = stepped.leader();

    private void start() {
        leader.start(state(segment(5, EPOCH - 1, State.OPEN, 100)), null);
    }

    private void held(int replica, long end, long highWatermark) {
        leader.onFenced(stepped.ticket("fence" + replica), replica, end, highWatermark);
    }

    @Test
    void aChainWithoutAnOpenSegmentIsTakenOverWithoutFencing() {
        leader.start(state(), null);

        assertThat(stepped.take()).containsExactly("load at 0", "allocate at 0");
        leader.onStateLoaded(stepped.ticket("load"), 0, -1);
        stepped.allocated(9);
        assertThat(stepped.take()).containsExactly("open 9", "checkpoint at 0", "roll opening 9");
        stepped.rolled(Outcome.COMMITTED);
        assertThat(stepped.take()).containsExactly("serving at 0");
        assertThat(leader.isServing()).isTrue();
    }

    /** The change of owner came with it: one round trip less, and a thousand commands less when a broker with a thousand partitions dies. */
    @Test
    void aSegmentThatCameWithTheOwnershipIsGoneOnInWithoutAsking() {
        leader.start(state(segment(5, EPOCH - 1, State.OPEN, 100)), segment(9, EPOCH, State.PENDING, 100));
        stepped.take();
        held(0, 100, 100);
        held(1, 100, 100);
        assertThat(stepped.take()).containsExactly("load at 100", "open 9");
        leader.onStateLoaded(stepped.ticket("load"), 0, -1);
        assertThat(stepped.take()).containsExactly("checkpoint at 100", "roll sealing 5 at 100 opening 9");
    }

    @Test
    void oneWhoseBookiesFailIsReplacedByAnother() {
        leader.start(state(), segment(9, EPOCH, State.PENDING, 0));
        leader.onStreamFailed(1, 0);
        leader.onStreamFailed(1, 1);
        assertThat(stepped.take()).endsWith("allocate at 0");
        assertThat(stepped.avoided()).containsExactly(1, 2);
    }

    @Test
    void itGoesOnWithRMinusAPlusOneReplies() {
        start();
        assertThat(stepped.take()).containsExactly("fence0 of 5", "fence1 of 5", "fence2 of 5");

        held(0, 107, 103);
        assertThat(stepped.take()).as("I-5 one reply is too few").isEmpty();
        held(2, 105, 104);

        assertThat(stepped.take())
                .as("the seal is what two hold, the largest end is carried")
                .containsExactly("load at 105", "allocate at 105");
    }

    @Test
    void aVouchedAbsenceCountsAndAFailureDoesNot() {
        start();
        leader.onFenceFailed(stepped.ticket("fence0"), 0);
        leader.onFencedAbsent(stepped.ticket("fence1"), 1);
        stepped.take();

        stepped.after(49);
        assertThat(stepped.take()).isEmpty();
        stepped.after(1);
        assertThat(stepped.take()).as("asked again after the pause").containsExactly("fence0 of 5");
        held(2, 100, -1);

        assertThat(stepped.take()).containsExactly("load at 100", "allocate at 100");
    }

    @Test
    void nothingIsServedBeforeTheCarriedEntriesAreOnAQuorumAndTheRollIsIn() {
        start();
        held(0, 103, 101);
        held(1, 101, 101);
        leader.onStateLoaded(stepped.ticket("load"), 50, 999);
        stepped.allocated(9);
        stepped.take();

        stepped.carry("read0", 101, 103);
        assertThat(stepped.take()).containsExactly("send 101 to 9", "send 102 to 9", "checkpoint at 103");
        stepped.durable(1, 103, 2);
        assertThat(stepped.take()).as("one copy").isEmpty();
        stepped.durable(1, 103, 0);
        assertThat(stepped.take()).containsExactly("roll sealing 5 at 101 opening 9");
        assertThat(stepped.sealed().holders()).extracting("value").containsExactly(1, 2);
        assertThat(leader.isServing()).isFalse();

        stepped.rolled(Outcome.COMMITTED);
        assertThat(stepped.take()).containsExactly("acknowledged 103", "serving at 103");
        assertThat(stepped.payloadsHeld()).isZero();
    }

    @Test
    void anotherReplicaDeliversWhatOneCanNot() {
        start();
        held(0, 102, 101);
        held(1, 101, 101);
        held(2, 102, 101);
        leader.onStateLoaded(stepped.ticket("load"), 0, -1);
        stepped.allocated(9);
        assertThat(stepped.take()).contains("read0 101..102");

        leader.onCarryFailed(stepped.ticket("read0"), 0);

        assertThat(stepped.take()).containsExactly("read2 101..102");
    }

    @Test
    void itStartsOverWhenNobodyCanDeliver() {
        start();
        held(0, 102, 101);
        held(1, 101, 101);
        leader.onStateLoaded(stepped.ticket("load"), 0, -1);
        stepped.allocated(9);
        int late = stepped.ticket("fence2");
        stepped.take();

        leader.onCarryFailed(stepped.ticket("read0"), 0);

        assertThat(leader.phaseName()).isEqualTo("Fencing");
        assertThat(stepped.take()).containsExactly("close 9/0", "close 9/1", "close 9/2");
        leader.onFenced(late, 2, 101, 101);
        assertThat(stepped.take()).as("that question was given up").isEmpty();
        stepped.after(50);
        assertThat(stepped.take()).containsExactly("fence0 of 5", "fence2 of 5");
        held(2, 101, 101);
        assertThat(stepped.take()).containsExactly("load at 101", "allocate at 101");
    }

    @Test
    void aSegmentWhoseBookiesFailBeforeTheRollIsReplaced() {
        start();
        held(0, 102, 101);
        held(1, 101, 101);
        leader.onStateLoaded(stepped.ticket("load"), 0, -1);
        stepped.allocated(9, 1, 2, 4);
        stepped.carry("read0", 101, 102);
        stepped.take();

        leader.onStreamFailed(1, 0);
        leader.onStreamFailed(1, 2);
        assertThat(stepped.take()).containsExactly("close 9/1", "allocate at 102");
        assertThat(stepped.avoided()).containsExactly(1, 4);

        stepped.allocated(10, 2, 3, 5);
        assertThat(stepped.take()).containsExactly("open 10", "send 101 to 10", "checkpoint at 102");
        stepped.durable(2, 102, 0, 1);
        assertThat(stepped.take()).containsExactly("roll sealing 5 at 101 opening 10");
    }

    @Test
    void stateThatCanNotBeLoadedIsAskedForAgain() {
        start();
        held(0, 100, -1);
        held(1, 100, -1);
        stepped.allocated(9);
        stepped.take();

        leader.onStateFailed(stepped.ticket("load"));
        stepped.after(50);

        assertThat(stepped.take()).containsExactly("load at 100");
        assertThat(leader.isLoading(stepped.ticket("load"))).isTrue();
    }

    @Test
    void aHigherEpochEndsIt() {
        start();
        leader.onHigherFence();
        assertThat(stepped.take()).endsWith("deposed SUPERSEDED");
        held(0, 100, -1);
        held(1, 100, -1);
        assertThat(stepped.take()).as("I-14 nothing follows").isEmpty();

        SteppedLeader other = new SteppedLeader();
        other.leader().start(state(), null);
        other.leader().onAllocateFailed(other.ticket("allocate"), AllocationFailure.SUPERSEDED);
        assertThat(other.take()).endsWith("deposed SUPERSEDED");
    }

    @Test
    void aReleaseAskedDuringTheTakeoverFollowsIt() {
        leader.start(state(), null);
        leader.release();
        leader.onStateLoaded(stepped.ticket("load"), 0, -1);
        stepped.allocated(9);
        stepped.rolled(Outcome.COMMITTED);

        assertThat(stepped.take()).endsWith("serving at 0", "checkpoint at 0", "release at 0");
        leader.onReleased(stepped.ticket("release"), Outcome.COMMITTED);
        assertThat(stepped.take()).containsExactly("deposed " + Deposition.RELEASED);
    }
}
