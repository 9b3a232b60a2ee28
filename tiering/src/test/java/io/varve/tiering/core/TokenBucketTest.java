package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TokenBucketTest {

    private static final long SECOND_NS = 1_000_000_000;

    @Test
    void aFlowSettlesAtTheRate() {
        TokenBucket bucket = new TokenBucket(1000, 500, 0);
        long nowNs = 0;
        for (int i = 0; i < 100; i++) {
            nowNs += bucket.take(100, nowNs);
        }
        // 10,000 bytes, of which 500 went at once.
        assertThat(nowNs).isBetween(9 * SECOND_NS, 10 * SECOND_NS);
    }

    @Test
    void moreThanTheBucketHoldsIsWaitedFor() {
        TokenBucket bucket = new TokenBucket(1000, 500, 0);
        assertThat(bucket.take(2500, 0)).isEqualTo(2 * SECOND_NS);
    }

    @Test
    void whatWasTakenIsPaidForByTime() {
        TokenBucket bucket = new TokenBucket(1000, 500, 0);
        assertThat(bucket.debtNs(0)).isZero();
        bucket.take(2500, 0);
        assertThat(bucket.debtNs(0)).isEqualTo(2 * SECOND_NS);
        assertThat(bucket.debtNs(SECOND_NS / 2)).isEqualTo(3 * SECOND_NS / 2);
        assertThat(bucket.debtNs(2 * SECOND_NS)).isZero();
    }

    @Test
    void zeroIsNoLimit() {
        TokenBucket bucket = new TokenBucket(0, 0, 0);
        assertThat(bucket.take(Long.MAX_VALUE, 0)).isZero();
        assertThat(bucket.debtNs(0)).isZero();
    }
}
