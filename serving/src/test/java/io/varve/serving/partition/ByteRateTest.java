package io.varve.serving.partition;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ByteRateTest {

    private static final long SECOND_NS = 1_000_000_000L;

    @Test
    void whatWasTakenIsWaitedForAfterwards() {
        ByteRate rate = new ByteRate(1_000, 5);
        assertThat(rate.mayGoOn(5)).isTrue();
        rate.take(5, 2_000);
        assertThat(rate.mayGoOn(5 + 2 * SECOND_NS - 1)).isFalse();
        assertThat(rate.mayGoOn(5 + 2 * SECOND_NS)).isTrue();
    }

    @Test
    void timeThatPassedUnusedIsNotSaved() {
        ByteRate rate = new ByteRate(1_000, 0);
        rate.take(60 * SECOND_NS, 1_000);
        assertThat(rate.mayGoOn(61 * SECOND_NS - 1)).isFalse();
        rate.take(60 * SECOND_NS, 1_000);
        assertThat(rate.mayGoOn(62 * SECOND_NS)).isTrue();
    }

    @Test
    void withoutABoundNothingIsWaitedFor() {
        ByteRate rate = new ByteRate(Long.MAX_VALUE, 0);
        rate.take(0, 1L << 30);
        assertThat(rate.mayGoOn(0)).isTrue();
    }
}
