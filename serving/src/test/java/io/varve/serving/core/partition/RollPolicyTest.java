package io.varve.serving.core.partition;

import static io.varve.serving.core.partition.SteppedLeader.EPOCH;
import static io.varve.serving.core.partition.SteppedLeader.OPTIONS;
import static io.varve.serving.core.partition.SteppedLeader.segment;
import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.model.SegmentDescriptor.State;
import org.junit.jupiter.api.Test;

class RollPolicyTest {

    private static final long LATER_NS = OPTIONS.segmentAgeNsMax();

    private final SegmentWriter writer =
            new SegmentWriter(1, segment(1, EPOCH, State.OPEN, 0), 0, SegmentRules.STANDARD, 0);

    @Test
    void aSegmentIsRolledWhenFull() {
        writer.onSent(1, 999);
        assertThat(RollPolicy.isDue(writer, OPTIONS, 0, 1)).isFalse();
        writer.onSent(2, 1);
        assertThat(RollPolicy.isDue(writer, OPTIONS, 0, 1)).isTrue();
    }

    @Test
    void orOldUnlessNothingOfItIsAcknowledged() {
        assertThat(RollPolicy.isDue(writer, OPTIONS, 0, LATER_NS)).isFalse();
        assertThat(RollPolicy.isDue(writer, OPTIONS, 1, LATER_NS - 1)).isFalse();
        assertThat(RollPolicy.isDue(writer, OPTIONS, 1, LATER_NS)).isTrue();
    }

    @Test
    void orShortOfAQuorum() {
        writer.tracker().onFailed(0);
        assertThat(RollPolicy.isDue(writer, OPTIONS, 0, 1)).isFalse();
        writer.tracker().onFailed(1);
        assertThat(RollPolicy.isDue(writer, OPTIONS, 0, 1)).isTrue();
    }

    @Test
    void moreCopiesArePossibleWhenAReplicaFailedAndEnoughOthersAreThere() {
        assertThat(RollPolicy.couldHoldMore(writer, OPTIONS, 5)).isFalse();
        writer.tracker().onFailed(0);
        assertThat(RollPolicy.couldHoldMore(writer, OPTIONS, 2)).isFalse();
        assertThat(RollPolicy.couldHoldMore(writer, OPTIONS, 3)).isTrue();
        assertThat(RollPolicy.holdsMore(2, writer)).isFalse();
        assertThat(RollPolicy.holdsMore(3, writer)).isTrue();
    }

    @Test
    void aReplicaWithMuchUnconfirmedIsTooSlowOnlyWhileOthersConfirm() {
        writer.onSent(10, 10);
        long tooMuch = OPTIONS.lagBytesMax() + 1;
        assertThat(RollPolicy.isTooSlow(writer, 0, tooMuch, OPTIONS, 0, 1))
                .as("all wait")
                .isFalse();
        assertThat(RollPolicy.isTooSlow(writer, 0, tooMuch, OPTIONS, 5, 1)).isTrue();
        writer.tracker().onFailed(1);
        assertThat(RollPolicy.isTooSlow(writer, 0, tooMuch, OPTIONS, 5, 1))
                .as("the quorum needs it")
                .isFalse();
    }
}
