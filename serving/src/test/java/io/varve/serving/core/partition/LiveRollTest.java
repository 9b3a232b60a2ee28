package io.varve.serving.core.partition;

import static io.varve.serving.core.partition.SteppedLeader.EPOCH;
import static io.varve.serving.core.partition.SteppedLeader.OPTIONS;
import static io.varve.serving.core.partition.SteppedLeader.segment;
import static io.varve.serving.core.partition.SteppedLeader.state;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.BookieId;
import io.varve.metadata.model.SegmentDescriptor.State;
import io.varve.serving.core.partition.PartitionLeader.Admission;
import io.varve.serving.core.partition.PartitionLeader.AllocationFailure;
import io.varve.serving.core.partition.PartitionLeader.Outcome;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/** {@link Active}, {@link Rolling} and {@link Releasing}, step by step. The first segment is 1, its writer 1. */
class LiveRollTest {

    private final SteppedLeader stepped = new SteppedLeader().serving();
    private final PartitionLeader<String> leader = stepped.leader();

    @Test
    void anEntryIsAcknowledgedWhenTwoHoldItDurably() {
        stepped.append(10);
        stepped.durable(1, 1, 0);
        stepped.durable(1, 1, 0);
        assertThat(stepped.take()).as("one replica counts once").containsExactly("send 0 to 1");
        stepped.durable(1, 1, 2);
        assertThat(stepped.take()).containsExactly("acknowledged 1");
    }

    @Test
    void theNextSegmentIsReadyBeforeTheRollThatNeedsIt() {
        stepped.append(800);
        assertThat(stepped.take()).containsExactly("send 0 to 1", "allocate at 1");
        stepped.allocated(2);
        assertThat(stepped.take()).as("ready, and not used yet").isEmpty();

        stepped.append(200);

        assertThat(stepped.take())
                .containsExactly(
                        "send 1 to 1",
                        "rolling at 0",
                        "open 2",
                        "send 0 to 2",
                        "send 1 to 2",
                        "checkpoint at 2",
                        "roll sealing 1 at 0 opening 2");
    }

    @Test
    void nothingIsAcknowledgedWhileARollIsUnderWay() {
        stepped.append(10);
        leader.roll();
        stepped.allocated(2);
        stepped.append(10);
        stepped.take();

        stepped.durable(1, 1, 0, 1, 2);
        stepped.durable(2, 2, 0, 1, 2);
        assertThat(stepped.take()).as("I-6").isEmpty();

        stepped.rolled(Outcome.COMMITTED);
        assertThat(stepped.take())
                .containsExactly(
                        "close 1/0 sealed at 0", "close 1/1 sealed at 0", "close 1/2 sealed at 0", "acknowledged 2");
    }

    @Test
    void aReplicaThatWasBehindAtTheSealIsConfirmedWhenItHasGoneOn() {
        stepped.append(10);
        stepped.durable(1, 1, 0, 1);
        leader.roll();
        stepped.allocated(2);
        stepped.rolled(Outcome.COMMITTED);
        assertThat(stepped.sealed().holders()).extracting("value").containsExactly(1, 2);
        assertThat(stepped.take()).endsWith("close 1/0 sealed at 1", "close 1/1 sealed at 1");

        stepped.durable(1, 1, 2);

        assertThat(stepped.take()).containsExactly("close 1/2 sealed at 1", "confirm 1 on 3");
    }

    @Test
    void aReplicaThatDoesNotCatchUpIsLeftToRepair() {
        stepped.append(10);
        stepped.durable(1, 1, 0, 1);
        leader.roll();
        stepped.allocated(2);
        stepped.rolled(Outcome.COMMITTED);
        stepped.take();

        stepped.after(2_000);

        assertThat(stepped.take()).contains("close 1/2");
        stepped.durable(1, 1, 2);
        assertThat(stepped.take()).doesNotContain("confirm 1 on 3");
    }

    @Test
    void aRollWhoseAnswerWasLostIsLookedUp() {
        leader.roll();
        stepped.allocated(2);
        stepped.take();

        stepped.rolled(Outcome.UNKNOWN);
        assertThat(stepped.take()).as("I-17").containsExactly("chain");
        leader.onChainUnread(stepped.ticket("chain"));
        stepped.after(50);
        assertThat(stepped.take()).containsExactly("chain");
        leader.onChain(stepped.ticket("chain"), state(segment(2, EPOCH, State.OPEN, 0)), true);

        assertThat(leader.phaseName()).isEqualTo("Active");
    }

    @Test
    void aRollThatWasNotDoneIsDoneAgain() {
        leader.roll();
        stepped.allocated(2);
        stepped.rolled(Outcome.NOT_DONE);
        stepped.take();

        stepped.after(50);

        assertThat(stepped.take()).containsExactly("roll sealing 1 at 0 opening 2");
    }

    @Test
    void aRollWhoseSegmentIsGoneGetsAnother() {
        leader.roll();
        stepped.allocated(2);
        stepped.append(10);
        stepped.rolled(Outcome.SEGMENT_GONE);
        assertThat(stepped.take()).endsWith("close 2/0", "close 2/1", "close 2/2", "allocate at 1");
        stepped.append(10);
        stepped.after(60);
        stepped.allocated(3);

        assertThat(stepped.take())
                .containsExactly(
                        "open 3", "send 0 to 3", "send 1 to 3", "checkpoint at 2", "roll sealing 1 at 0 opening 3");
    }

    /** A roll that was given up for lost, and was in after all: the empty segment that it opened is sealed in the place of the first. */
    @Test
    void aStrandedSegmentIsSealedInstead() {
        leader.roll();
        stepped.allocated(2);
        stepped.rolled(Outcome.SEGMENT_GONE);
        stepped.after(60);
        stepped.allocated(3);
        stepped.rolled(Outcome.MOVED);
        leader.onChain(stepped.ticket("chain"), state(segment(2, EPOCH, State.OPEN, 0)), true);
        stepped.take();

        stepped.after(200);

        assertThat(stepped.take()).containsExactly("roll sealing 2 at 0 opening 3");
        assertThat(stepped.sealed().holders()).isEmpty();
        stepped.rolled(Outcome.COMMITTED);
        assertThat(leader.phaseName()).isEqualTo("Active");
    }

    @Test
    void aChainThatSomebodyElseChangedEndsIt() {
        leader.roll();
        stepped.allocated(2);
        stepped.append(10);
        stepped.rolled(Outcome.MOVED);
        leader.onChain(stepped.ticket("chain"), state(segment(8, EPOCH, State.OPEN, 5)), true);

        assertThat(stepped.take()).endsWith("deposed SUPERSEDED");
        assertThat(stepped.payloadsHeld()).isZero();
        assertThat(leader.admit(1)).isEqualTo(Admission.NOT_SERVING);
    }

    @Test
    void aFailedReplicaIsRolledAwayFromWhenAnotherSetHoldsMore() {
        leader.onStreamFailed(1, 2);
        assertThat(stepped.take()).containsExactly("allocate at 0");
        assertThat(stepped.avoided()).containsExactly(3);
        stepped.allocated(2, 1, 2, 4);
        assertThat(stepped.take()).contains("rolling at 0", "roll sealing 1 at 0 opening 2");
    }

    @Test
    void aSetThatHoldsNoMoreIsNotRolledTo() {
        leader.onStreamFailed(1, 2);
        stepped.allocated(2, 1, 2);
        assertThat(leader.phaseName()).isEqualTo("Active");
        stepped.take();
        stepped.after(799);
        assertThat(stepped.take()).as("more copies are tried for rarely").isEmpty();
        stepped.after(1);
        assertThat(stepped.take()).containsExactly("allocate at 0");
    }

    /** The pauses between tries have grown by then to many times what a bookie is avoided for. */
    @Test
    void moreCopiesAreTriedForAsSoonAsABookieThatFailedMayBeAskedForAgain() {
        leader.onStreamFailed(1, 2);
        stepped.allocated(2, 1, 2);
        stepped.after(800);
        stepped.allocated(3, 1, 2);
        stepped.take();

        stepped.after(199);
        assertThat(stepped.take()).isEmpty();
        stepped.after(1);
        assertThat(stepped.take()).containsExactly("allocate at 0");
        assertThat(stepped.avoided()).isEmpty();
        stepped.allocated(4, 1, 2);
        stepped.take();

        stepped.after(3_199);
        assertThat(stepped.take()).as("no other is avoided").isEmpty();
        stepped.after(1);
        assertThat(stepped.take()).containsExactly("allocate at 0");
    }

    /** Nobody writes to it: what it holds could not be repaired while it is open. */
    @Test
    void anIdleSegmentWithADeadReplicaIsRolledByTimeAloneOnceThereIsAPlace() {
        stepped.append(10);
        stepped.durable(1, 1, 0, 1, 2);
        stepped.usableBookies(2);
        stepped.after(1);
        leader.onStreamFailed(1, 2);
        stepped.take();
        stepped.after(10_000);
        assertThat(stepped.take()).as("there is no third bookie").doesNotContain("allocate at 1");
        stepped.usableBookies(3);
        stepped.after(20);
        assertThat(stepped.take()).containsExactly("allocate at 1");
        stepped.allocated(2, 1, 2, 4);
        assertThat(stepped.take()).contains("roll sealing 1 at 1 opening 2");
        assertThat(stepped.sealed().holders())
                .as("whoever died held it, and is no more than two others' copy")
                .extracting("value")
                .contains(1, 2);
    }

    @Test
    void withoutAQuorumAndWithoutBookiesProducersAreToldAndItGoesOnByItself() {
        leader.onStreamFailed(1, 1);
        leader.onStreamFailed(1, 2);
        assertThat(leader.admit(1)).as("the next segment is on its way").isEqualTo(Admission.TAKEN);
        leader.onAllocateFailed(stepped.ticket("allocate"), AllocationFailure.NOT_ENOUGH_BOOKIES);
        assertThat(leader.admit(1)).isEqualTo(Admission.NOT_ENOUGH_REPLICAS);
        stepped.take();

        stepped.after(50);
        assertThat(stepped.take()).containsExactly("allocate at 0");
        stepped.allocated(2);
        stepped.rolled(Outcome.COMMITTED);

        assertThat(leader.admit(1)).isEqualTo(Admission.TAKEN);
    }

    @Test
    void aSlowReplicaIsDroppedButNeverOneThatTheQuorumNeeds() {
        stepped.after(10);
        stepped.append(10);
        stepped.after(10);
        stepped.durable(1, 1, 0);
        stepped.take();

        stepped.after(600);

        assertThat(stepped.take())
                .as("two lag, and one of them is needed")
                .contains("close 1/1")
                .doesNotContain("close 1/2");
    }

    @Test
    void aReplicaWithTooMuchUnconfirmedIsDropped() {
        stepped.append(10);
        stepped.durable(1, 1, 0, 1);
        stepped.take();
        stepped.pending(2, OPTIONS.lagBytesMax() + 1);

        stepped.after(1);

        assertThat(stepped.take()).startsWith("close 1/2");
    }

    /** A replica is found slow in the same tick in which the segment is found old: one roll comes of it, and no allocation that could take its segment's place (I-6). */
    @Test
    void aSlowReplicaInAnOldSegmentMakesOneRoll() {
        stepped.append(800);
        stepped.allocated(2, 1, 2, 4);
        stepped.durable(1, 1, 0, 1);
        stepped.take();
        stepped.pending(2, OPTIONS.lagBytesMax() + 1);

        stepped.after(60_000);

        assertThat(stepped.take()).doesNotContain("allocate at 1").contains("roll sealing 1 at 1 opening 2");
    }

    @Test
    void aBookieThatIsBeingEmptiedIsLeftEvenByAnEmptySegment() {
        leader.leave(new TreeSet<>(List.of(new BookieId(9))));
        assertThat(stepped.take()).isEmpty();

        leader.leave(new TreeSet<>(List.of(new BookieId(3))));
        assertThat(stepped.take()).containsExactly("allocate at 0");
        stepped.allocated(2, 1, 2, 4);

        assertThat(stepped.take()).contains("roll sealing 1 at 0 opening 2");
    }

    @Test
    void aSegmentThatWasReadyOnABookieThatIsBeingEmptiedIsNotUsed() {
        stepped.append(800);
        stepped.allocated(2, 1, 2, 4);
        stepped.take();

        leader.leave(new TreeSet<>(List.of(new BookieId(4))));
        stepped.allocated(3, 1, 2, 5);

        assertThat(stepped.take()).contains("roll sealing 1 at 0 opening 3");
    }

    @Test
    void itIsGivenBackOnceEverythingIsAcknowledgedAndLevel() {
        stepped.append(10);
        leader.release();
        assertThat(leader.admit(1)).isEqualTo(Admission.NOT_SERVING);
        assertThat(leader.isServing()).as("reads go on").isTrue();
        stepped.durable(1, 1, 0, 1);
        assertThat(stepped.take()).containsExactly("send 0 to 1", "checkpoint at 1", "acknowledged 1");
        stepped.after(299);
        assertThat(stepped.take()).as("the third replica is waited for").isEmpty();
        stepped.after(1);
        assertThat(stepped.take()).as("but not for ever").containsExactly("release at 1");

        leader.onReleased(stepped.ticket("release"), Outcome.COMMITTED);
        assertThat(stepped.take()).containsExactly("deposed RELEASED");
    }

    @Test
    void theSealOfAReleaseStandsWhateverBecomesOfItsAnswer() {
        stepped.append(10);
        leader.release();
        stepped.after(300);
        stepped.take();

        stepped.durable(1, 1, 0, 1, 2);
        assertThat(stepped.take()).as("I-6 the high watermark is frozen").isEmpty();
        leader.onReleased(stepped.ticket("release"), Outcome.NOT_DONE);
        stepped.after(50);
        assertThat(stepped.take()).containsExactly("release at 0");
        leader.onReleased(stepped.ticket("release"), Outcome.UNKNOWN);
        leader.onChain(stepped.ticket("chain"), state(), false);
        assertThat(stepped.take()).endsWith("deposed RELEASED");
    }

    @Test
    void appendsBeyondTheWindowAreRefusedUntilSomeAreAcknowledged() {
        stepped.append(900);
        for (int i = 0; i < 5; i++) {
            stepped.append(900);
        }
        assertThat(leader.admit(900)).isEqualTo(Admission.OVERLOADED);
        stepped.durable(1, 6, 0, 1);
        assertThat(leader.admit(900)).isEqualTo(Admission.TAKEN);
        assertThat(stepped.payloadsHeld()).isZero();
    }
}
