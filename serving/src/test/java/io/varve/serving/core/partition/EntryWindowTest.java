package io.varve.serving.core.partition;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.InvariantViolation;
import org.junit.jupiter.api.Test;

class EntryWindowTest {

    @Test
    void entriesLeaveInTheOrderInWhichTheyCameHoweverOftenTheRingTurns() {
        EntryWindow<String> window = new EntryWindow<>();
        long next = 0;
        long oldest = 0;
        for (int round = 0; round < 200; round++) {
            for (int i = 0; i <= round % 23; i++) {
                window.add(next, next + 1, (int) next, 10 + (int) (next % 7), next * 3, "p" + next);
                next += 2;
            }
            while (window.count() > round % 11) {
                assertThat(window.firstOffset(0)).isEqualTo(oldest);
                assertThat(window.crc(0)).isEqualTo((int) oldest);
                assertThat(window.maxTimestampMs(0)).isEqualTo(oldest * 3);
                assertThat(window.removeFirst()).isEqualTo("p" + oldest);
                oldest += 2;
            }
            long bytes = 0;
            for (int i = 0; i < window.count(); i++) {
                bytes += window.sizeBytes(i);
                assertThat(window.lastOffset(i)).isEqualTo(window.firstOffset(i) + 1);
            }
            assertThat(window.bytes()).isEqualTo(bytes);
        }
    }

    @Test
    void aGapBreaksTheInvariant() {
        EntryWindow<String> window = new EntryWindow<>();
        window.add(5, 7, 0, 1, 0, "a");
        assertThatThrownBy(() -> window.add(9, 9, 0, 1, 0, "b")).isInstanceOf(InvariantViolation.class);
    }
}
