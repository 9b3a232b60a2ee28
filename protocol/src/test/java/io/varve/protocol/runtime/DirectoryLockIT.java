package io.varve.protocol.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DirectoryLockIT {

    @Test
    void aDirectoryHasOneHolderAtATime(@TempDir Path directory) {
        Path data = directory.resolve("new/data");
        try (DirectoryLock held = DirectoryLock.acquire(data)) {
            assertThat(held).isNotNull();
            assertThatThrownBy(() -> DirectoryLock.acquire(data))
                    .isInstanceOfSatisfying(
                            StartupException.class,
                            e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DIRECTORY_LOCKED));
        }
        DirectoryLock.acquire(data).close();
    }

    @Test
    void aDirectoryThatCannotBeMadeIsTroubleOfTheDisk(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("file"), "");
        assertThatThrownBy(() -> DirectoryLock.acquire(file.resolve("below")))
                .isInstanceOfSatisfying(
                        StartupException.class, e -> assertThat(e.reason()).isEqualTo(StartupException.Reason.DISK));
    }
}
