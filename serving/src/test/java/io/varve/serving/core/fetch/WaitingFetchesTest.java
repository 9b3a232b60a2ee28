package io.varve.serving.core.fetch;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class WaitingFetchesTest {

    @Test
    void eachIsCalledOnceWhenTheBoundPassesItsOffsetAndNotBefore() {
        WaitingFetches waiting = new WaitingFetches();
        List<String> called = new ArrayList<>();
        waiting.add(5, () -> called.add("five"));
        waiting.add(5, () -> called.add("five again"));
        waiting.add(9, () -> called.add("nine"));
        WaitingFetches.Waiter cancelled = waiting.add(6, () -> called.add("never"));
        waiting.cancel(cancelled);
        waiting.onBound(5);
        assertThat(called).isEmpty();
        waiting.onBound(8);
        assertThat(called).containsExactly("five", "five again");
        waiting.onBound(8);
        waiting.onLost();
        assertThat(called).containsExactly("five", "five again", "nine");
        assertThat(waiting.size()).isZero();
    }
}
