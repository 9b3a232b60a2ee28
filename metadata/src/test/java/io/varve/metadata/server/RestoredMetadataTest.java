package io.varve.metadata.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.varve.base.StartupException;
import io.varve.base.StartupException.Reason;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node begins with what was laid into its directory: nothing is ever laid over anything. */
class RestoredMetadataTest {

    @TempDir
    private Path parent;

    @Test
    void aDirectoryIsEmptyIfNothingButALockOrAFileSystemsOwnIsInIt() throws Exception {
        Path directory = parent.resolve("node");
        assertThatCode(() -> RestoredMetadata.checkEmpty(directory))
                .as("not there yet")
                .doesNotThrowAnyException();
        Files.createDirectories(directory.resolve("lost+found"));
        Files.createFile(directory.resolve(".lock"));
        assertThatCode(() -> RestoredMetadata.checkEmpty(directory)).doesNotThrowAnyException();

        Path other = Files.createFile(directory.resolve("thesis.tex"));
        refused(directory, Reason.DIRECTORY_FOREIGN, "thesis.tex");
        Files.delete(other);
        Files.createDirectory(directory.resolve("raft"));
        refused(directory, Reason.DIRECTORY_FOREIGN, "metadata node's");
        refused(Files.createFile(parent.resolve("file")), Reason.DISK, "file");
    }

    /** Killed before the bucket was taken over, or before that was noted: no node may begin with it, and all of it is done once more. */
    @Test
    void whatIsNotFinishedIsRefusedByANodeAndLaidAnew() throws Exception {
        Path directory = parent.resolve("node");
        lay(directory);
        assertThatThrownBy(() -> MetadataBackup.checkFinished(directory))
                .isInstanceOfSatisfying(
                        StartupException.class, e -> assertThat(e.reason()).isEqualTo(Reason.DIRECTORY_FOREIGN))
                .hasMessageContaining("did not end")
                .hasMessageContaining("Run the same varve restore --into " + directory + " again");
        assertThatThrownBy(() -> MetadataBackup.checkEmpty(directory))
                .as("a backup is restored over nothing")
                .isInstanceOf(StartupException.class);
        Files.writeString(directory.resolve("restore.snapshot"), "half of another");
        Files.writeString(directory.resolve("restore.snapshot.draft"), "half of one");

        RestoredMetadata.checkEmpty(directory);
        lay(directory);
        RestoredMetadata.finish(directory);
        assertThat(MetadataBackup.clusterIdOf(
                        MetadataBackup.waitingIn(directory).orElseThrow()))
                .isEqualTo("cluster-2");
        MetadataBackup.checkFinished(directory);
    }

    @Test
    void aRestorationThatCameToNothingYetIsInNobodysWay() throws Exception {
        Path directory = Files.createDirectory(parent.resolve("node"));
        Files.writeString(directory.resolve("restore.unfinished.draft"), "What is");
        lay(directory);
        RestoredMetadata.finish(directory);
        refused(directory, Reason.DIRECTORY_FOREIGN, "restored into");
    }

    @Test
    void whatIsNotFinishedMakesNoRoomForAnythingElse() throws Exception {
        Path directory = parent.resolve("node");
        lay(directory);
        Files.createDirectory(directory.resolve("raft"));
        refused(directory, Reason.DIRECTORY_FOREIGN, "metadata node's");
    }

    @Test
    void whatWasLaidIsInTheWayOfAnotherUntilItIsTakenAway() throws Exception {
        Path directory = parent.resolve("node");
        lay(directory);
        RestoredMetadata.finish(directory);
        refused(directory, Reason.DIRECTORY_FOREIGN, "restored into");
        assertThatThrownBy(() -> lay(directory)).isInstanceOf(StartupException.class);
        RestoredMetadata.takeAway(directory);
        lay(directory);
        assertThat(MetadataBackup.waitingIn(directory)).isPresent();
    }

    private static void lay(Path directory) throws Exception {
        RestoredMetadata.lay(Optional.empty(), "cluster-2", "cluster-1", List.of(), List.of(), directory);
    }

    private static void refused(Path directory, Reason reason, String says) {
        assertThatThrownBy(() -> RestoredMetadata.checkEmpty(directory))
                .isInstanceOfSatisfying(
                        StartupException.class, e -> assertThat(e.reason()).isEqualTo(reason))
                .hasMessageContaining(says);
    }
}
