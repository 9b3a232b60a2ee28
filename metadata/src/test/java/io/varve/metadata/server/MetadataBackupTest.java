package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A slip in a path is said, and leaves nothing behind. */
class MetadataBackupTest {

    @TempDir
    private Path parent;

    @Test
    void aDirectoryThatIsNotThereIsNotMadeToBeSalvaged() {
        Path directory = parent.resolve("metdata");
        assertThatThrownBy(() -> MetadataBackup.salvage(directory, parent.resolve("rescued.backup")))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("There is no log in " + directory);
        assertThat(directory).doesNotExist();
    }

    @Test
    void aBackupThatIsNotThereOrIsNoneIsNotRestored() throws Exception {
        Path into = parent.resolve("node");
        assertThatThrownBy(() -> MetadataBackup.restore(parent.resolve("bakcup"), into, 1))
                .isInstanceOfSatisfying(
                        StartupException.class,
                        e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.BAD_CONFIG))
                .hasMessageContaining("There is no file");
        Path other = Files.writeString(parent.resolve("other"), "no snapshot");
        assertThatThrownBy(() -> MetadataBackup.restore(other, into, 1))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("can't be read");
        assertThat(into).doesNotExist();
    }
}
