package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import org.junit.jupiter.api.Test;

class ReplicationTrackerTest {

    private final ReplicationTracker tracker = new ReplicationTracker(SegmentRules.STANDARD, 3, 2, 100, 0);

    @Test
    void acknowledgementsAreCumulativeAndNeverGoBack() {
        tracker.onSent(110);
        tracker.onDurable(0, 108);
        tracker.onDurable(0, 104);
        tracker.onDurable(0, 108);
        assertThat(tracker.durableOnQuorum()).as("I-1 one replica is no quorum").isEqualTo(100);
        tracker.onDurable(2, 105);
        assertThat(tracker.durableOnQuorum()).isEqualTo(105);
    }

    @Test
    void whatAFailedReplicaHoldsItHolds() {
        tracker.onSent(110);
        tracker.onDurable(0, 110);
        tracker.onFailed(0);
        tracker.onDurable(1, 110);
        assertThat(tracker.durableOnQuorum()).isEqualTo(110);
        assertThat(tracker.healthy()).isEqualTo(2);
        tracker.onFailed(1);
        assertThat(tracker.hasQuorum()).isFalse();
    }

    @Test
    void nothingIsAcknowledgedThatWasNotSent() {
        tracker.onSent(101);
        assertThatThrownBy(() -> tracker.onDurable(0, 102))
                .isInstanceOf(InvariantViolation.class)
                .hasMessageContaining("I-3");
    }

    @Test
    void aReplicaIsSlowWhenOneMarkIsNotReachedInTime() {
        tracker.isSlow(0, 0, 50);
        tracker.onSent(110);
        assertThat(tracker.isSlow(0, 10, 50)).isFalse();
        tracker.onSent(120);
        tracker.onDurable(0, 109);
        assertThat(tracker.isSlow(0, 60, 50)).isFalse();
        assertThat(tracker.isSlow(0, 61, 50)).isTrue();
        tracker.onDurable(0, 110);
        assertThat(tracker.isSlow(0, 62, 50))
                .as("it moves: the next mark counts from here")
                .isFalse();
    }
}
