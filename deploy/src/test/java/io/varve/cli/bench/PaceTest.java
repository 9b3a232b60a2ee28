package io.varve.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class PaceTest {

    @Test
    void recordsAreDueAtEvenDistancesWhateverTheTimeIs() {
        Pace pace = new Pace(1_000, 1_000_000);
        assertThat(pace.dueNs(0, 77)).isEqualTo(1_000);
        assertThat(pace.dueNs(3, 77)).isEqualTo(4_000);
        assertThat(pace.dueNs(1_000_000, 77)).isEqualTo(1_000_001_000L);
    }

    @Test
    void withoutARateRecordsAreDueWhenAskedFor() {
        assertThat(new Pace(1_000, 0).dueNs(5, 77)).isEqualTo(77);
    }

    @Test
    void whatIsLateIsNotWaitedFor() {
        long startNs = System.nanoTime() - 1_000_000_000L;
        assertThat(new Pace(startNs, 1_000).await(3)).isEqualTo(startNs + 3_000_000);
    }
}
