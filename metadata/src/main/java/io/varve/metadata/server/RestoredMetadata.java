package io.varve.metadata.server;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.core.MetadataImage;
import io.varve.metadata.core.RestoredImage;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.Topic;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Collection;
import java.util.Optional;

/** Lays what was found in a bucket into the directory of a metadata node, which begins with it: the metadata's part of {@code varve restore}. */
public final class RestoredMetadata {

    private RestoredMetadata() {}

    /**
     * Refuses a directory that can't be restored into.
     *
     * @throws io.varve.base.StartupException DIRECTORY_FOREIGN if it has anything in it, DISK if it can't be looked into
     */
    public static void checkEmpty(Path directory) {
        MetadataBackup.checkEmpty(directory);
    }

    /**
     * Lays the restored state into a directory; nothing of it counts before a node was started there.
     *
     * @param backup what was last known, if anything is
     * @param clusterId of the new cluster
     * @param bucketId what the keys of the objects begin with
     * @throws io.varve.base.StartupException DIRECTORY_FOREIGN if it has anything in it
     */
    public static void lay(
            Optional<MetadataView> backup,
            String clusterId,
            String bucketId,
            Collection<Topic> topics,
            Collection<RestoredPartition> partitions,
            Path directory)
            throws IOException {
        MetadataImage known = backup.map(MetadataImage.class::cast).orElse(MetadataImage.EMPTY);
        MetadataBackup.lay(RestoredImage.of(known, clusterId, bucketId, topics, partitions), directory);
    }

    /** Takes away what {@link #lay} laid, if no node has begun with it. */
    public static void takeAway(Path directory) throws IOException {
        MetadataBackup.takeAway(directory);
    }
}
