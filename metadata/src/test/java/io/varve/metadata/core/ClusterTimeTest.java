package io.varve.metadata.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class ClusterTimeTest {

    private static final long WALL = 1_700_000_000_000L;
    private static final long HOUR = 3_600_000;

    private final ClusterTime time = new ClusterTime();

    private void heard(long monotonic, long first, long second, long third) {
        time.onHeard(1, WALL + monotonic + first, monotonic);
        time.onHeard(2, WALL + monotonic + second, monotonic);
        time.onHeard(3, WALL + monotonic + third, monotonic);
    }

    @Test
    void oneOfThreeClocksMayBeAnHourOffEitherWay() {
        for (long off : new long[] {HOUR, -HOUR}) {
            time.restart();
            heard(0, off, 3, -2);
            time.settle();
            assertThat(time.now(0) - WALL).isBetween(-2L, 3L);
            heard(5_000, 1, off, 2);
            assertThat(time.now(5_000) - WALL - 5_000).isBetween(-2L, 3L);
        }
    }

    @Test
    void ofTwoClocksTheEarlierCountsForWhatIsDoneLateDoesNoHarm() {
        time.onHeard(1, WALL + HOUR, 0);
        time.onHeard(2, WALL, 0);
        time.settle();
        assertThat(time.now(0)).isEqualTo(WALL);
        assertThat(time.ahead(1)).isEqualTo(HOUR);
    }

    @Test
    void theClockOfASingleNodeIsFollowedSlowly() {
        time.onHeard(1, WALL, 0);
        time.settle();
        time.onHeard(1, WALL + HOUR + 1_000, 1_000);
        assertThat(time.now(1_000)).as("nothing at once").isEqualTo(WALL + 1_000);
        assertThat(time.now(61_000)).as("twice as fast").isEqualTo(WALL + 1_000 + 120_000);
        time.onHeard(1, WALL + 61_000 - HOUR, 61_000);
        assertThat(time.now(121_000)).as("half as fast").isEqualTo(WALL + 121_000 + 30_000);
    }

    @Test
    void theTimeNeverGoesBackOnceItIsSettled() {
        heard(0, 0, 0, 0);
        time.settle();
        long last = time.now(0);
        for (int step = 1; step < 2_000; step++) {
            long off = step % 300 < 150 ? HOUR : -HOUR;
            heard(step * 50L, off, off, 0);
            long now = time.now(step * 50L);
            assertThat(now).isGreaterThan(last);
            last = now;
        }
    }

    @Test
    void aNewLeaderTakesTheMiddleOfTheClocksAtOnce() {
        time.onHeard(1, WALL + HOUR, 0);
        assertThat(time.now(0)).isEqualTo(WALL + HOUR);
        heard(10, HOUR, 0, 1);
        time.settle();
        assertThat(time.now(10)).isEqualTo(WALL + 10 + 1);
    }

    @Test
    void aNodeThatWasRemovedNoLongerCounts() {
        heard(0, HOUR, HOUR, 0);
        time.retain(List.of(3));
        time.settle();
        assertThat(time.known()).isEqualTo(1);
        assertThat(time.now(100_000) - WALL - 100_000).as("on its way").isLessThan(HOUR);
    }
}
