package io.varve.cli.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class FailoverResultTest {

    @Test
    void theSpreadIsThatOfTheSortedTimes() {
        FailoverResult.Spread spread =
                FailoverResult.Spread.of(List.of(900L, 100L, 300L, 200L, 500L, 400L, 700L, 600L, 800L, 1_000L));
        assertThat(spread.leastMs()).isEqualTo(100);
        assertThat(spread.medianMs()).isEqualTo(600);
        assertThat(spread.p90Ms()).isEqualTo(1_000);
        assertThat(spread.worstMs()).isEqualTo(1_000);
        assertThat(spread.sortedMs()).isSorted();
        assertThat(FailoverResult.Spread.of(List.of()).worstMs()).isZero();
    }

    @Test
    void aLostOrRepeatedRecordMakesItUnsound() {
        assertThat(FailoverResult.of(List.of(), List.of(), 10, 0, 0).isSound()).isTrue();
        assertThat(FailoverResult.of(List.of(), List.of(), 10, 1, 0).isSound()).isFalse();
        assertThat(FailoverResult.of(List.of(), List.of(), 10, 0, 1).isSound()).isFalse();
    }

    @Test
    void theLongestSilenceOfAWindowIsWhatCounts() {
        FailoverClients.Silence silence = new FailoverClients.Silence();
        long nowNs = System.nanoTime();
        silence.onEvent(nowNs);
        silence.restart();
        silence.onEvent(nowNs + 5_000_000);
        silence.onEvent(nowNs + 900_000_000);
        silence.onEvent(nowNs + 901_000_000);
        assertThat(silence.longestMs()).isEqualTo(895);
        silence.restart();
        silence.onEvent(nowNs + 911_000_000);
        assertThat(silence.longestMs()).isEqualTo(10);
    }
}
