package io.varve.itest.cluster;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class AwaitTest {

    private static final Duration NO_TIME = Duration.ZERO;

    @Test
    void whoWaitsInVainIsToldWhatWasSeenLast() {
        assertThatThrownBy(() -> Await.until("rain", NO_TIME, () -> "a clear sky", () -> false))
                .isInstanceOf(AssertionError.class)
                .hasMessage("Not within PT0S: rain. Seen last: a clear sky");
    }

    @Test
    void whatCannotBeSeenDoesNotHideWhatWasWaitedFor() {
        assertThatThrownBy(() -> Await.until(
                        "rain",
                        NO_TIME,
                        () -> {
                            throw new IllegalStateException("fog");
                        },
                        () -> false))
                .isInstanceOf(AssertionError.class)
                .hasMessageStartingWith("Not within PT0S: rain. What there is can't be told: ")
                .hasMessageContaining("fog");
    }

    @Test
    void whatHoldsAtOnceIsNotWaitedForAndNotLookedAt() {
        Await.until(
                "water",
                NO_TIME,
                () -> {
                    throw new IllegalStateException("asked for nothing");
                },
                () -> true);
    }
}
