package io.varve.metadata.server;

import io.varve.base.StartupException;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.core.CommandHistory;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.RestoredImage;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.Topic;
import io.varve.metadata.raft.SnapshotFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;

/** Lays what was found in a bucket into the directory of a metadata node, which begins with it: the metadata's part of {@code varve restore}. */
public final class RestoredMetadata {

    private RestoredMetadata() {}

    /**
     * Refuses a directory that can't be restored into.
     *
     * @throws StartupException DIRECTORY_FOREIGN if a metadata node has run in it, or waits in it to begin
     */
    public static void checkEmpty(Path directory) {
        boolean hasBegun = Files.exists(directory.resolve("raft")) || Files.exists(directory.resolve("cookie"));
        if (hasBegun || MetadataBackup.waitingIn(directory).isPresent()) {
            throw new StartupException(
                    StartupException.Reason.DIRECTORY_FOREIGN,
                    "The data directory " + directory
                            + " is a metadata node's already, or was restored into: restore into an empty one");
        }
    }

    /**
     * Lays the restored state into a directory; nothing of it counts before a node was started there.
     *
     * @param backup what was last known, if anything is
     * @param clusterId of the new cluster
     * @param bucketId what the keys of the objects begin with
     * @throws StartupException DIRECTORY_FOREIGN if a metadata node has run in it
     */
    public static void lay(
            Optional<MetadataView> backup,
            String clusterId,
            String bucketId,
            Collection<Topic> topics,
            Collection<RestoredPartition> partitions,
            Path directory)
            throws IOException {
        checkEmpty(directory);
        MetadataImage known = backup.map(MetadataImage.class::cast).orElse(MetadataImage.EMPTY);
        MetadataImage image = RestoredImage.of(known, clusterId, bucketId, topics, partitions);
        Files.createDirectories(directory);
        Path file = Files.createTempFile(directory, "restored", ".snapshot");
        try {
            SnapshotFile.write(file, new SnapshotFile.State(image, CommandHistory.EMPTY), () -> false);
            MetadataBackup.restore(file, directory);
        } finally {
            Files.deleteIfExists(file);
        }
    }
}
