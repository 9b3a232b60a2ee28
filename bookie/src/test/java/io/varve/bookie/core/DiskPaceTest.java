package io.varve.bookie.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class DiskPaceTest {

    private final DiskPace pace = new DiskPace();

    @Test
    void oneSlowFsyncIsNoSlowDisk() {
        assertThat(pace.onFlush(1_000_000_000L)).isFalse();
        assertThat(pace.onFlush(1_000_000)).isFalse();
        assertThat(pace.isSlow()).isFalse();
    }

    @Test
    void slowFsyncsInARowMakeItSlowAndQuickOnesMakeItWellAgain() {
        int untilSlow = 0;
        while (!pace.onFlush(400_000_000)) {
            untilSlow++;
        }
        assertThat(untilSlow).isBetween(3, 20);
        assertThat(pace.isSlow()).isTrue();
        int untilWell = 0;
        while (!pace.onFlush(1_000_000)) {
            untilWell++;
        }
        assertThat(untilWell).isBetween(5, 40);
        assertThat(pace.isSlow()).isFalse();
    }
}
