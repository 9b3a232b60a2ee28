package io.varve.cli.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class ProgressTest {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);
    private long nowNs;

    @Test
    void withoutATerminalALineComesEveryFiveSeconds() {
        try (Progress progress = Progress.inLines("writing", OptionalLong.of(2_000), out, () -> nowNs)) {
            progress.to(10);
            nowNs += Duration.ofSeconds(5).toNanos();
            progress.to(1_000);
            progress.to(1_001);
            nowNs += Duration.ofSeconds(5).toNanos();
            progress.to(2_000);
        }
        assertThat(bytes.toString(StandardCharsets.UTF_8).lines())
                .containsExactly("  writing: 1,000 of 2,000 (50%)", "  writing: 2,000 of 2,000 (100%)");
    }

    @Test
    void withoutATotalOnlyTheCountIsGiven() {
        try (Progress progress = Progress.inLines("reading", OptionalLong.empty(), out, () -> nowNs)) {
            nowNs += Duration.ofSeconds(6).toNanos();
            progress.to(7);
        }
        assertThat(bytes.toString(StandardCharsets.UTF_8).strip()).isEqualTo("reading: 7");
    }

    @Test
    void aNoteStandsBesideIt() {
        try (Progress progress = Progress.inLines("moved", OptionalLong.of(4), out, () -> nowNs)) {
            nowNs += Duration.ofSeconds(6).toNanos();
            progress.to(1, "3 segments left");
        }
        assertThat(bytes.toString(StandardCharsets.UTF_8).strip()).isEqualTo("moved: 1 of 4 (25%), 3 segments left");
    }
}
