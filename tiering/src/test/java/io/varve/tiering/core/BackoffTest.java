package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.tiering.testing.SteppedRandomness;
import org.junit.jupiter.api.Test;

class BackoffTest {

    private static final long FIRST_NS = 50;
    private static final long MAX_NS = 20_000;

    private final Backoff backoff = new Backoff(FIRST_NS, MAX_NS, new SteppedRandomness(1));

    @Test
    void nobodyWaitsInGoodTimes() {
        assertThat(backoff.delayNs(0)).isZero();
        backoff.onSuccess(1);
        assertThat(backoff.delayNs(1)).isZero();
        assertThat(backoff.isHolding()).isFalse();
    }

    @Test
    void oneCallersTroubleHoldsBackAllCallers() {
        backoff.onTrouble(1000);
        assertThat(backoff.delayNs(1000)).isBetween(FIRST_NS / 2, 2 * FIRST_NS);
        assertThat(backoff.isHolding()).isTrue();
    }

    @Test
    void waitsGrowWithTroubleUpToABoundAndShrinkWithSuccess() {
        long nowNs = 0;
        long longestNs = 0;
        for (int i = 0; i < 30; i++) {
            long waitNs = backoff.onTrouble(nowNs);
            assertThat(waitNs).isBetween(FIRST_NS / 2, 2 * MAX_NS);
            longestNs = Math.max(longestNs, waitNs);
            nowNs += 3 * MAX_NS;
        }
        assertThat(longestNs).isGreaterThan(MAX_NS / 2);
        for (int i = 0; i < 30; i++) {
            backoff.onSuccess(nowNs);
        }
        assertThat(backoff.isHolding()).isFalse();
        assertThat(backoff.delayNs(nowNs)).isZero();
    }

    @Test
    void answersToCallsThatWereOutTogetherCountOnce() {
        for (int i = 0; i < 100; i++) {
            backoff.onTrouble(1000);
        }
        assertThat(backoff.delayNs(1000)).isLessThan(2 * FIRST_NS);
    }

    @Test
    void thoseWhoWaitDoNotComeBackTogether() {
        backoff.onTrouble(0);
        assertThat(java.util.stream.LongStream.range(0, 50)
                        .map(i -> backoff.delayNs(0))
                        .distinct()
                        .count())
                .isGreaterThan(5);
    }
}
