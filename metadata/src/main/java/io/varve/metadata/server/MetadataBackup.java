package io.varve.metadata.server;

import io.varve.base.StartupException;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.raft.SnapshotFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The whole metadata in a file, and a service that begins with it. A backup is consistent: it is one version. What was committed after it is lost to a cluster that is restored from it, so it is for the loss of all
 * nodes' disks alone.
 *
 * <p>To restore: {@link #restore} into the empty directory of one node that is configured as the only one, start it, then start the others with empty directories and add them.
 */
public final class MetadataBackup {

    private static final String WAITING = "restore.snapshot";

    private MetadataBackup() {}

    /**
     * Writes what the service knows now to a file, whole or not at all.
     *
     * @return the version written
     */
    public static long save(RemoteMetadataClient client, Path file, long timeoutMs) throws IOException {
        try {
            client.linearizable().get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException late) {
            throw new StartupException(
                    StartupException.Reason.NO_QUORUM, "No backup, for the metadata service does not answer", late);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted before the backup was written", interrupted);
        }
        SnapshotFile.State state = new SnapshotFile.State(client.image(), CommandHistory.EMPTY);
        SnapshotFile.write(file.toAbsolutePath(), state, () -> false);
        return state.image().version();
    }

    /**
     * Lays a backup into the directory of a node that has no log yet; it begins with it when it starts.
     *
     * @throws StartupException DIRECTORY_FOREIGN if the directory has a log: nothing is ever restored over one
     * @throws IOException if the backup is damaged, or can't be copied
     */
    public static void restore(Path backup, Path directory) throws IOException {
        if (Files.exists(directory.resolve("raft"))) {
            throw new StartupException(
                    StartupException.Reason.DIRECTORY_FOREIGN,
                    "The data directory " + directory + " has a log: a backup is restored into an empty one");
        }
        SnapshotFile.State state = SnapshotFile.read(backup);
        Files.createDirectories(directory);
        SnapshotFile.write(directory.toAbsolutePath().resolve(WAITING), state, () -> false);
    }

    /** The backup that was laid into a directory. */
    static Optional<Path> waitingIn(Path directory) {
        return Optional.of(directory.toAbsolutePath().resolve(WAITING)).filter(Files::exists);
    }
}
