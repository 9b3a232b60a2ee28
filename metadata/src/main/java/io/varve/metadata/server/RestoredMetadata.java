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

/**
 * Lays what was found in a bucket into the directory of a metadata node, which begins with it: the metadata's part of {@code varve restore}.
 *
 * <p>The cluster's metadata and the bucket's mark can't be changed at once. So what is laid counts only when the bucket was taken over, and {@link #finish} said so; whoever is killed before that is told to do all of
 * it again.
 */
public final class RestoredMetadata {

    private RestoredMetadata() {}

    /**
     * Refuses a directory that can't be restored into.
     *
     * @throws io.varve.base.StartupException DIRECTORY_FOREIGN if it has anything in it but a restoration that did not end, DISK if it can't be looked into
     */
    public static void checkEmpty(Path directory) {
        MetadataBackup.checkEmptyOrUnfinished(directory);
    }

    /**
     * Lays the restored state into a directory, in the place of what was laid there and not finished. No node begins with it before {@link #finish}.
     *
     * @param backup what was last known, if anything is
     * @param clusterId of the new cluster
     * @param bucketId what the keys of the objects begin with
     * @throws io.varve.base.StartupException DIRECTORY_FOREIGN if it has anything else in it
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
        MetadataBackup.layUnfinished(RestoredImage.of(known, clusterId, bucketId, topics, partitions), directory);
    }

    /** The bucket is the new cluster's: a node begins with what {@link #lay} laid from here on. */
    public static void finish(Path directory) throws IOException {
        MetadataBackup.finish(directory);
    }

    /** Takes away what {@link #lay} laid, if no node has begun with it. */
    public static void takeAway(Path directory) throws IOException {
        MetadataBackup.takeAway(directory);
    }
}
