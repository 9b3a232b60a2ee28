package io.varve.tiering.core;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class RoundRobinTest {

    private final RoundRobin<String, String> waiting = new RoundRobin<>();

    @Test
    void eachIsServedOnceInTurnHoweverMuchOneOfThemAsksFor() {
        for (int i = 1; i <= 4; i++) {
            waiting.add("greedy", "g" + i);
        }
        waiting.add("a", "a1");
        waiting.add("b", "b1");
        waiting.add("b", "b2");
        assertThat(waiting.size()).isEqualTo(7);
        assertThat(all()).containsExactly("g1", "a1", "b1", "g2", "b2", "g3", "g4");
        assertThat(waiting.isEmpty()).isTrue();
        assertThat(waiting.poll()).isNull();
        assertThat(waiting.peek()).isNull();
    }

    @Test
    void whoComesBackWaitsForOneOfEachOther() {
        waiting.add("a", "a1");
        waiting.add("b", "b1");
        waiting.add("b", "b2");
        assertThat(waiting.poll()).isEqualTo("a1");
        waiting.add("a", "a2");
        assertThat(all()).containsExactly("b1", "a2", "b2");
    }

    @Test
    void whatIsDrainedIsGone() {
        waiting.add("a", "a1");
        waiting.add("b", "b1");
        waiting.add("a", "a2");
        assertThat(waiting.drain()).containsExactlyInAnyOrder("a1", "a2", "b1");
        assertThat(waiting.isEmpty()).isTrue();
        waiting.add("b", "b2");
        assertThat(all()).containsExactly("b2");
    }

    private List<String> all() {
        List<String> all = new ArrayList<>();
        while (!waiting.isEmpty()) {
            String next = waiting.peek();
            assertThat(waiting.poll()).isEqualTo(next);
            all.add(next);
        }
        return all;
    }
}
