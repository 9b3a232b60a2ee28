package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.metadata.core.SessionLiveness.Key;
import org.junit.jupiter.api.Test;

class SessionLivenessTest {

    private static final Key BROKER = new Key(false, 1, 11);
    private static final long MS = 1_000_000;

    private final SessionLiveness liveness = new SessionLiveness(3_000, 300);

    @Test
    void silenceForTheTimeOutIsDeath() {
        liveness.onHeard(BROKER, 1, 0);
        assertThat(liveness.due(2_999 * MS)).isEmpty();
        assertThat(liveness.due(3_000 * MS)).containsExactly(BROKER);
        assertThat(liveness.due(3_001 * MS))
                .as("named once, until the answer had time to come")
                .isEmpty();
    }

    @Test
    void aDroppedConnectionShortensTheWaitUnlessTheNodeComesBack() {
        liveness.onHeard(BROKER, 1, 0);
        liveness.onDropped(1, 100 * MS);
        assertThat(liveness.due(399 * MS)).isEmpty();
        assertThat(liveness.due(400 * MS)).containsExactly(BROKER);

        liveness.onHeard(BROKER, 1, 1_000 * MS);
        liveness.onDropped(1, 1_100 * MS);
        liveness.onHeard(BROKER, 2, 1_200 * MS);
        assertThat(liveness.due(1_500 * MS)).isEmpty();
    }

    @Test
    void whatTheLeaderDidNotHearWhileItStoodStillIsNobodysSilence() {
        liveness.onHeard(BROKER, 1, 0);
        liveness.onStoodStill(4_000 * MS, 5_000 * MS);
        assertThat(liveness.due(5_000 * MS)).isEmpty();
        assertThat(liveness.due(7_000 * MS)).containsExactly(BROKER);
    }

    @Test
    void noSessionIsGrantedMoreThanAFullTimeOutForThat() {
        liveness.onHeard(BROKER, 1, 0);
        liveness.onStoodStill(60_000 * MS, 60_000 * MS);
        assertThat(liveness.due(62_999 * MS)).isEmpty();
        assertThat(liveness.due(63_000 * MS)).containsExactly(BROKER);
    }

    @Test
    void theEndOfAnOldConnectionIsNoNews() {
        liveness.onHeard(BROKER, 1, 0);
        liveness.onHeard(BROKER, 2, 100 * MS);
        liveness.onDropped(1, 200 * MS);
        assertThat(liveness.due(1_000 * MS)).isEmpty();
    }

    @Test
    void aNewLeaderGrantsEverybodyAFullTimeOut() {
        liveness.expect(BROKER, 10_000 * MS);
        assertThat(liveness.isPresent(BROKER, 12_000 * MS))
                .as("nobody may take its place yet")
                .isTrue();
        assertThat(liveness.due(12_999 * MS)).isEmpty();
        assertThat(liveness.due(13_000 * MS)).containsExactly(BROKER);
    }

    @Test
    void aProcessThatLostItsConnectionMayBeReplacedAtOnce() {
        liveness.onHeard(BROKER, 1, 0);
        assertThat(liveness.isPresent(BROKER, 100 * MS)).isTrue();
        liveness.onDropped(1, 200 * MS);
        assertThat(liveness.isPresent(BROKER, 201 * MS)).isFalse();
    }
}
