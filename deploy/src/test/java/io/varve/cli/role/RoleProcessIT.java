package io.varve.cli.role;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.cli.process.ChildProcess;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a role's process starts and ends, with a role that does nothing. */
class RoleProcessIT {

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    @TempDir
    Path directory;

    @Test
    void sigtermDrainsAndEndsWithZero() throws Exception {
        try (ChildProcess process = start("good")) {
            process.ready().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            process.terminate();
            assertThat(process.awaitExit(PATIENCE)).hasValue(0);
            assertThat(process.lastLines()).contains("closed");
        }
    }

    @Test
    void theEndOfItsInputDrainsItToo() throws Exception {
        try (ChildProcess process = start("good")) {
            process.ready().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            process.closeInput();
            assertThat(process.awaitExit(PATIENCE)).hasValue(0);
            assertThat(process.lastLines()).contains("closed");
        }
    }

    @Test
    void drainingThatFailsOrHangsEndsWithOne() throws Exception {
        for (String kind : List.of("failing", "hanging")) {
            try (ChildProcess process = start(kind)) {
                process.ready().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
                process.terminate();
                assertThat(process.awaitExit(PATIENCE)).as(kind).hasValue(1);
            }
        }
    }

    @Test
    void aRoleThatCannotGoOnIsDrainedAndEndsWithOne() throws Exception {
        try (ChildProcess process = start("ending")) {
            assertThat(process.awaitExit(PATIENCE)).hasValue(1);
            assertThat(process.lastLines()).contains("closed").anyMatch(line -> line.contains("as asked for"));
        }
    }

    @Test
    void aRoleThatCannotStartEndsWithItsOwnCodeAndIsNeverReady() throws Exception {
        try (ChildProcess process = start("unstartable")) {
            assertThat(process.awaitExit(PATIENCE)).hasValue(14);
            assertThatThrownBy(() -> process.ready().get(1, TimeUnit.SECONDS)).hasMessageContaining("ended before");
        }
    }

    @Test
    void aPausedProcessStandsStillUntilItIsResumed() throws Exception {
        try (ChildProcess process = start("good")) {
            process.ready().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            process.pause();
            process.terminate();
            assertThat(process.awaitExit(Duration.ofMillis(500))).isEmpty();
            process.resume();
            assertThat(process.awaitExit(PATIENCE)).hasValue(0);
        }
    }

    @Test
    void aKilledProcessDrainsNothing() throws Exception {
        try (ChildProcess process = start("good")) {
            process.ready().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            process.kill();
            assertThat(process.isAlive()).isFalse();
            assertThat(process.lastLines()).doesNotContain("closed");
            assertThat(Files.readString(directory.resolve("good.log"))).contains(RoleProcess.READY);
        }
    }

    private ChildProcess start(String kind) throws IOException {
        return ChildProcess.start(
                kind,
                List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Program.class.getName(),
                        kind),
                RoleProcess.READY,
                directory.resolve(kind + ".log"));
    }

    /** A role that does nothing, in the way that its argument says. */
    static final class Program {

        public static void main(String[] arguments) {
            Runnable closing = switch (arguments[0]) {
                case "failing" ->
                    () -> {
                        throw new IllegalStateException("as asked for");
                    };
                case "hanging" -> new CompletableFuture<Void>()::join;
                default -> () -> System.out.println("closed");
            };
            CompletableFuture<String> stopped = new CompletableFuture<>();
            if (arguments[0].equals("ending")) {
                stopped.complete("as asked for");
            }
            try {
                RoleProcess.run(
                        "test",
                        Duration.ofMillis(500),
                        () -> {
                            if (arguments[0].equals("unstartable")) {
                                throw new IOException("as asked for");
                            }
                            return RunningNode.of(stopped, closing);
                        },
                        () -> {},
                        true);
            } catch (Exception e) {
                System.exit(14);
            }
        }
    }
}
