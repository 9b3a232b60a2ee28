package io.varve.metadata.server;

import io.varve.base.StartupException;
import io.varve.metadata.client.RemoteMetadataClient;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.Restoration;
import io.varve.metadata.raft.SnapshotFile;
import io.varve.metadata.raft.StoredLog;
import io.varve.protocol.runtime.DirectoryLock;
import io.varve.protocol.runtime.DurableText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * The whole metadata in a file, and a service that begins with it. A backup is consistent: it is one version. What was committed after it is lost to a cluster that is restored from it, so it is for the loss of all
 * nodes' disks alone.
 *
 * <p>To restore: {@link #restore} into the empty directory of one node and start it, which makes it the only one; then start the others with empty directories and add them.
 */
public final class MetadataBackup {

    private static final String WAITING = "restore.snapshot";

    /** Says that what was laid doesn't count yet, see {@link #layUnfinished}. */
    private static final String UNFINISHED = "restore.unfinished";

    /** What both of them, and drafts of them, begin with. */
    private static final String OF_A_RESTORATION = "restore.";

    /** What an empty directory may have: our own lock, and what a file system of its own begins with. */
    private static final List<String> OF_NOBODY = List.of(".lock", "lost+found");

    private MetadataBackup() {}

    /** What is in a backup, for people. */
    public record Contents(String clusterId, long version, int topics, int partitions, long segments) {
        private static Contents of(MetadataImage image) {
            return new Contents(
                    image.clusterId(),
                    image.version(),
                    image.topics().size(),
                    image.partitionCount(),
                    image.segmentCount());
        }
    }

    /**
     * Writes what the service knows now to a file, whole or not at all.
     *
     * @throws StartupException NO_QUORUM if the service does not answer, BAD_CONFIG if the file is there already: none is ever overwritten
     */
    public static Contents save(RemoteMetadataClient client, Path file, long timeoutMs) throws IOException {
        refuseToOverwrite(file);
        try {
            client.linearizable().get(timeoutMs, TimeUnit.MILLISECONDS);
        } catch (ExecutionException | TimeoutException late) {
            throw new StartupException(
                    StartupException.Reason.NO_QUORUM, "No backup, for the metadata service does not answer", late);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted before the backup was written", interrupted);
        }
        MetadataImage image = client.image();
        SnapshotFile.write(file.toAbsolutePath(), new SnapshotFile.State(image, CommandHistory.EMPTY), () -> false);
        return Contents.of(image);
    }

    /**
     * Writes what a stopped node's directory holds to a file, for when no quorum will ever be again: the state after the last entry of its log.
     *
     * @param directory the node's data directory
     * @throws StartupException DIRECTORY_LOCKED if a node uses it, BAD_CONFIG if the file is there already
     * @throws IOException if the log is damaged before its end, or the file can't be written
     */
    public static Contents salvage(Path directory, Path file) throws IOException {
        refuseToOverwrite(file);
        Path log = directory.resolve("raft");
        if (!Files.isDirectory(log)) {
            // The lock would make the directory.
            throw new IOException("There is no log in " + log);
        }
        DirectoryLock lock = DirectoryLock.acquire(directory);
        try {
            MetadataImage image = StoredLog.lastState(log).image();
            SnapshotFile.write(file.toAbsolutePath(), new SnapshotFile.State(image, CommandHistory.EMPTY), () -> false);
            return Contents.of(image);
        } finally {
            lock.close();
        }
    }

    private static void refuseToOverwrite(Path file) {
        if (Files.exists(file)) {
            throw new StartupException(
                    StartupException.Reason.BAD_CONFIG,
                    "There is a file " + file + " already, and no backup is overwritten");
        }
    }

    /**
     * Lays a backup into the directory of a node that has no log yet; it begins with it when it starts. Ids and epochs go on from numbers that were never given out, see {@link Restoration}.
     *
     * @param nowMs the time
     * @throws StartupException DIRECTORY_FOREIGN if the directory isn't empty: nothing is ever restored over anything; BAD_CONFIG if there is no such backup
     * @throws IOException if the backup is damaged, or can't be copied
     */
    public static Contents restore(Path backup, Path directory, long nowMs) throws IOException {
        if (!Files.exists(backup)) {
            throw new StartupException(StartupException.Reason.BAD_CONFIG, "There is no file " + backup);
        }
        MetadataImage saved = SnapshotFile.read(backup).image();
        if (saved.clusterId().isEmpty()) {
            throw new IOException("The backup " + backup + " is of a cluster that was not formed yet");
        }
        lay(Restoration.of(saved, nowMs), directory);
        return Contents.of(saved);
    }

    /** {@link #restore(Path, Path, long)} with a state that was made for a new cluster, as it is. */
    static void lay(MetadataImage image, Path directory) throws IOException {
        checkEmpty(directory);
        DirectoryLock lock = DirectoryLock.acquire(directory);
        try {
            write(image, directory);
        } finally {
            lock.close();
        }
    }

    /**
     * Lays a state of which nobody may begin before something else is done as well, and {@link #finish} was called: until then a node refuses the directory, and the same can be done once more, from its
     * beginning.
     */
    static void layUnfinished(MetadataImage image, Path directory) throws IOException {
        checkEmptyOrUnfinished(directory);
        DirectoryLock lock = DirectoryLock.acquire(directory);
        try {
            DurableText.write(
                    directory.resolve(UNFINISHED),
                    "What is restored into this directory doesn't count while this file is here.\n");
            write(image, directory);
        } finally {
            lock.close();
        }
    }

    private static void write(MetadataImage image, Path directory) throws IOException {
        SnapshotFile.State state = new SnapshotFile.State(image, CommandHistory.EMPTY);
        Path waiting = directory.toAbsolutePath().resolve(WAITING);
        SnapshotFile.write(waiting, state, () -> false);
        SnapshotFile.read(waiting);
    }

    /** What {@link #layUnfinished} laid counts from here on. */
    static void finish(Path directory) throws IOException {
        DurableText.delete(directory.resolve(UNFINISHED));
    }

    /** Takes away what was laid, of which no node has begun. */
    static void takeAway(Path directory) throws IOException {
        DurableText.delete(directory.resolve(WAITING));
        DurableText.delete(directory.resolve(UNFINISHED));
    }

    /**
     * Refuses to begin with a directory in which a restoration did not end.
     *
     * @throws StartupException DIRECTORY_FOREIGN
     */
    static void checkFinished(Path directory) {
        if (Files.exists(directory.resolve(UNFINISHED))) {
            throw new StartupException(
                    StartupException.Reason.DIRECTORY_FOREIGN,
                    "The restoration from a bucket into the data directory " + directory
                            + " did not end, and nothing of it counts. Run the same varve restore --into " + directory
                            + " again: it begins anew");
        }
    }

    /** {@link #checkEmpty}, but for what a restoration left that did not end. */
    static void checkEmptyOrUnfinished(Path directory) {
        boolean isUnfinished = Files.exists(directory.resolve(UNFINISHED));
        // Whoever was killed right at the beginning left a draft of the mark alone.
        checkHasOnly(directory, name -> name.startsWith(OF_A_RESTORATION) && (isUnfinished || !name.equals(WAITING)));
    }

    /**
     * Refuses a directory that can't be restored into.
     *
     * @throws StartupException DIRECTORY_FOREIGN if it has anything in it, DISK if it can't be looked into
     */
    static void checkEmpty(Path directory) {
        checkHasOnly(directory, name -> false);
    }

    private static void checkHasOnly(Path directory, Predicate<String> others) {
        if (!Files.exists(directory)) {
            return;
        }
        try (Stream<Path> entries = Files.list(directory)) {
            entries.map(entry -> entry.getFileName().toString())
                    .filter(name -> !OF_NOBODY.contains(name))
                    .filter(name -> !others.test(name))
                    .sorted()
                    .findFirst()
                    .ifPresent(name -> refuse(directory, name));
        } catch (IOException | UncheckedIOException e) {
            throw new StartupException(
                    StartupException.Reason.DISK, "Can't use the data directory " + directory + ": " + e, e);
        }
    }

    private static void refuse(Path directory, String name) {
        boolean isANodes = name.equals("raft") || name.equals("cookie") || name.startsWith(OF_A_RESTORATION);
        throw new StartupException(
                StartupException.Reason.DIRECTORY_FOREIGN,
                "The data directory " + directory + " isn't empty: "
                        + (isANodes ? "it is a metadata node's, or was restored into" : "it has " + name)
                        + ". Restore into an empty one");
    }

    /**
     * The cluster that a backup is of.
     *
     * @throws StartupException DISK if it can't be read whole
     */
    static String clusterIdOf(Path backup) {
        try {
            return SnapshotFile.read(backup).image().clusterId();
        } catch (IOException damaged) {
            throw new StartupException(StartupException.Reason.DISK, damaged.getMessage(), damaged);
        }
    }

    /** The backup that was laid into a directory. */
    static Optional<Path> waitingIn(Path directory) {
        return Optional.of(directory.toAbsolutePath().resolve(WAITING)).filter(Files::exists);
    }
}
