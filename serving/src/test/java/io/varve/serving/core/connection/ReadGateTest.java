package io.varve.serving.core.connection;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import io.varve.serving.core.connection.ReadGate.Reason;
import org.junit.jupiter.api.Test;

final class ReadGateTest {

    private final ReadGate gate = new ReadGate(4, 1_000);

    @Test
    void readingStopsAtTheBoundOfRequestsAndGoesOnAtHalfOfIt() {
        for (int i = 0; i < 4; i++) {
            assertThat(gate.isOpen()).isTrue();
            gate.onRequest(1);
        }
        assertThat(gate.isOpen()).isFalse();
        gate.onAnswered(1);
        assertThat(gate.isOpen()).isFalse();
        gate.onAnswered(1);
        assertThat(gate.isOpen()).isTrue();
    }

    @Test
    void readingStopsAtTheBoundOfBytes() {
        gate.onRequest(1_000);
        assertThat(gate.isOpen()).isFalse();
        gate.onAnswered(1_000);
        assertThat(gate.isOpen()).isTrue();
    }

    @Test
    void aReasonLiftedLeavesTheOthers() {
        gate.stop(Reason.THROTTLED);
        gate.stop(Reason.UNWRITABLE);
        gate.go(Reason.THROTTLED);
        assertThat(gate.isOpen()).isFalse();
        gate.go(Reason.UNWRITABLE);
        assertThat(gate.isOpen()).isTrue();
    }

    @Test
    void moreAnswersThanRequestsAreABrokenInvariant() {
        assertThatThrownBy(() -> gate.onAnswered(1)).isInstanceOf(InvariantViolation.class);
    }
}
