package io.varve.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.varve.base.StartupException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

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

    @Test
    void aDirectoryThatCanBeUsedAsABucketIsSaidToBeSound(@TempDir Path directory) {
        assertThat(Main.execute("bucket", "check", "--set", "tiering.local.dir=" + directory))
                .isZero();
    }

    @Test
    void aBucketThatCannotBeUsedEndsWithItsOwnCodeAndAWrongKeyWithTwo(@TempDir Path directory) throws IOException {
        Path file = Files.createFile(directory.resolve("file"));
        assertThat(Main.execute("bucket", "check", "--set", "tiering.local.dir=" + file.resolve("bucket")))
                .isEqualTo(StartupException.Reason.NO_BUCKET.exitCode());
        assertThat(Main.execute("bucket", "check", "--set", "tiering.stoer=s3"))
                .isEqualTo(StartupException.Reason.BAD_CONFIG.exitCode());
    }
}
