package io.varve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class MainTest {

    @Test
    void helpAndVersionSucceedForEveryCommand() {
        assertThat(Main.execute("--help")).isZero();
        assertThat(Main.execute("--version")).isZero();
        assertThat(Main.execute("bench", "--help")).isZero();
    }

    @Test
    void noCommandAnUnknownCommandAndAnUnknownOptionAreUsageErrors() {
        assertThat(Main.execute()).isEqualTo(2);
        assertThat(Main.execute("flood")).isEqualTo(2);
        assertThat(Main.execute("bench", "--flood")).isEqualTo(2);
        assertThat(Main.execute("bench", "--size", "3")).isEqualTo(2);
    }
}
