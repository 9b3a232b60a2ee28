package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SettlePaceTest {

    @Test
    void theFurtherBeyondItsBudgetTheBacklogIsTheFasterItIsSettled() {
        assertThat(SettlePace.bytesPerSecond(64, 100, 200)).isEqualTo(64);
        assertThat(SettlePace.bytesPerSecond(64, 200, 200)).isEqualTo(64);
        assertThat(SettlePace.bytesPerSecond(64, 300, 200)).isEqualTo(128);
        assertThat(SettlePace.bytesPerSecond(64, 350, 200)).isEqualTo(256);
        assertThat(SettlePace.bytesPerSecond(64, 400, 200)).isEqualTo(SettlePace.UNLIMITED);
        assertThat(SettlePace.bytesPerSecond(64, 4000, 200)).isEqualTo(SettlePace.UNLIMITED);
        long before = 0;
        for (long backlog = 0; backlog < 500; backlog++) {
            long rate = SettlePace.bytesPerSecond(1000, backlog, 200);
            assertThat(rate).isGreaterThanOrEqualTo(before);
            before = rate;
        }
        assertThat(SettlePace.bytesPerSecond(64, 4000, 0)).isEqualTo(64);
    }
}
