package io.varve.serving.kafka.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.kafka.storage.internals.log.VerificationGuard;
import org.junit.jupiter.api.Test;

final class VerificationGuardsTest {

    private final VerificationGuards guards = new VerificationGuards();

    @Test
    void aGuardHoldsUntilItsTransactionEnds() {
        VerificationGuard guard = guards.begin(1);
        VerificationGuard other = guards.begin(2);
        assertThat(guards.holds(1, guard)).isTrue();
        guards.end(1);
        assertThat(guards.holds(1, guard)).isFalse();
        assertThat(guards.holds(2, other)).isTrue();
    }

    @Test
    void theNextTransactionsGuardIsNotTheLastOnes() {
        VerificationGuard last = guards.begin(1);
        guards.end(1);
        VerificationGuard next = guards.begin(1);
        assertThat(guards.holds(1, last)).isFalse();
        assertThat(guards.holds(1, next)).isTrue();
    }

    @Test
    void nobodysGuardHoldsNothing() {
        assertThat(guards.holds(1, VerificationGuard.SENTINEL)).isFalse();
    }

    @Test
    void whoWasForgottenIsRefused() {
        VerificationGuard guard = guards.begin(0);
        for (long id = 1; id <= 10_000; id++) {
            guards.begin(id);
        }
        assertThat(guards.holds(0, guard)).isFalse();
    }
}
