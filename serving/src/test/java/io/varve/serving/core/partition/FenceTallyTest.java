package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import org.junit.jupiter.api.Test;

class FenceTallyTest {

    private final FenceTally tally = new FenceTally(SegmentRules.STANDARD, 5, 3, 10);

    @Test
    void eachReplicaCountsOnce() {
        tally.onHeld(0, 12, 11);
        tally.onHeld(0, 12, 11);
        tally.onAbsent(1);
        assertThat(tally.isEnough()).as("I-5 two of the three that it takes").isFalse();
        tally.onHeld(4, 14, 10);
        assertThat(tally.isEnough()).isTrue();
    }

    @Test
    void theSealIsTheHigherOfWhatWasToldAndWhatIsKnownToBeHeld() {
        tally.onHeld(0, 12, 11);
        tally.onAbsent(1);
        tally.onHeld(4, 14, 10);
        assertThat(tally.sealOffset()).as("told").isEqualTo(11);
        tally.onHeld(2, 13, 10);
        assertThat(tally.sealOffset()).as("three hold it").isEqualTo(12);
        assertThat(tally.carryEnd(12)).isEqualTo(14);
    }

    @Test
    void aReplyThatIsTakenBackDoesNotCount() {
        tally.onHeld(0, 12, 11);
        tally.onHeld(1, 14, 11);
        tally.onHeld(2, 12, 11);
        tally.forget(1);
        assertThat(tally.isEnough()).isFalse();
        assertThat(tally.hasReply(1)).isFalse();
        assertThat(tally.holds(1, 11)).isFalse();
    }

    @Test
    void aFencedReplicasEndStays() {
        tally.onHeld(0, 12, 11);
        assertThatThrownBy(() -> tally.onHeld(0, 13, 11))
                .isInstanceOf(InvariantViolation.class)
                .hasMessageContaining("I-4");
    }
}
