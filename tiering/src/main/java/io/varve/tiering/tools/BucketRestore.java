package io.varve.tiering.tools;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.client.MetadataCopy;
import io.varve.metadata.model.RestoredPartition;
import io.varve.metadata.model.Topic;
import io.varve.tiering.api.MetadataBackups;
import io.varve.tiering.core.RestorePlan;
import io.varve.tiering.object.ClusterMarker;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.object.StoreFailures;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.function.LongConsumer;

/**
 * Finds out what of a lost cluster can be had from its bucket. Changes nothing there but by {@link #takeOver}. Used by one thread, which it blocks.
 */
public final class BucketRestore {

    private final ObjectStore store;
    private final String bucketId;
    private final MetadataBackups backups;

    /**
     * @param bucketId what the keys of the lost cluster's objects begin with
     * @param backups its
     */
    public BucketRestore(ObjectStore store, String bucketId, MetadataBackups backups) {
        this.store = store;
        this.bucketId = bucketId;
        this.backups = backups;
    }

    /**
     * What was found.
     *
     * @param backup the one that was taken, if any could be read
     * @param metadata what is in it
     * @param lost a line for each thing that is known to be missing
     * @param objects how many objects were looked at
     */
    public record Found(
            Optional<MetadataBackups.Backup> backup,
            Optional<MetadataView> metadata,
            List<Topic> topics,
            List<RestoredPartition> partitions,
            List<String> lost,
            long objects) {

        /** Whether there is nothing of a cluster at all: neither what its metadata was nor a record. */
        public boolean isEmpty() {
            return metadata.isEmpty() && partitions.isEmpty();
        }
    }

    /** The clusters that left a mark below the store's prefix, by what the keys of their objects begin with. */
    public static List<String> clusters(ObjectStore store) {
        return get(new ClusterMarker(store, "", "").clusters());
    }

    /**
     * Looks at the newest backup that is intact, and at every object: those that its manifests name are looked for in the listing, the others are asked what they hold.
     *
     * @param scratch a directory for the backup's copy
     * @param replicas R of topics that no backup knows
     * @param acks A of those
     * @param progress is told how many objects were read so far
     * @throws IOException if the bucket can't be read
     */
    public Found look(Path scratch, int replicas, int acks, LongConsumer progress) throws IOException {
        List<String> lost = new ArrayList<>();
        List<MetadataBackups.Backup> all = backups.list();
        Optional<MetadataBackups.Backup> used = Optional.empty();
        Optional<MetadataView> metadata = Optional.empty();
        Path file = Files.createTempFile(scratch, "backup", ".meta");
        try {
            for (int i = all.size() - 1; i >= 0 && used.isEmpty(); i--) {
                backups.load(all.get(i), file);
                try {
                    metadata = Optional.of(MetadataCopy.read(file));
                    used = Optional.of(all.get(i));
                } catch (IOException damaged) {
                    lost.add("backup " + all.get(i).key() + ": " + damaged.getMessage());
                }
            }
        } finally {
            Files.deleteIfExists(file);
        }
        if (used.isEmpty()) {
            lost.add(
                    "there is no backup of the metadata: configurations, access rules and the starts of logs are lost");
        }
        RestoreSurvey survey = new RestoreSurvey(store, bucketId, lost);
        survey.look(metadata, progress);
        RestorePlan.Restored plan = RestorePlan.of(
                new RestorePlan.Found(metadata, survey.objects(), survey.manifestsFrom(), replicas, acks));
        lost.addAll(plan.lost());
        return new Found(used, metadata, plan.topics(), plan.partitions(), lost, survey.count());
    }

    /** Makes the bucket the new cluster's; whatever is left of the old one refuses to start from then on. */
    public void takeOver(String newClusterId, String token) {
        get(new ClusterMarker(store, bucketId, newClusterId).takeOver(token));
    }

    private static <T> T get(CompletableFuture<T> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw StoreFailures.of(e);
        }
    }
}
