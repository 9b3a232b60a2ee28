package io.varve.tiering.tools;

import io.varve.base.PartitionId;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.Topic;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.core.HeldObject;
import io.varve.tiering.core.ManifestCover;
import io.varve.tiering.core.SegmentKey;
import io.varve.tiering.manifest.ManifestObjects;
import io.varve.tiering.object.ObjectStore;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * What a bucket holds of a lost cluster, for the plan of its restoration. Years of history are in manifests: of what those name only the keys are compared with the listing, and nothing of it is in memory. Where a
 * manifest can't be read, the partition's objects are asked for what they hold, like all that no manifest names. One thread, which it blocks; used once.
 */
final class RestoreSurvey {

    private final ObjectStore store;
    private final String bucketId;
    private final List<String> lost;
    private final TreeMap<PartitionId, ManifestCover> covers = new TreeMap<>();
    private final TreeSet<PartitionId> unreadable = new TreeSet<>();
    private final TreeMap<PartitionId, List<HeldObject>> objects = new TreeMap<>();
    private final TreeMap<String, String> damaged = new TreeMap<>();

    /** @param lost takes a line for each thing that can't be read */
    RestoreSurvey(ObjectStore store, String bucketId, List<String> lost) {
        this.store = store;
        this.bucketId = bucketId;
        this.lost = lost;
    }

    /** @param progress is told how many objects were seen so far */
    void look(Optional<MetadataView> backup, LongConsumer progress) {
        if (backup.isPresent()) {
            for (Topic topic : backup.get().topics()) {
                backup.get().partitions(topic.id()).forEach(this::open);
            }
        }
        BucketSurvey survey = new BucketSurvey(store, bucketId);
        keep(survey.look(ObjectKeys.clusterPrefix(bucketId), this::isNamed, progress));
        covers.keySet().removeAll(unreadable);
        for (PartitionId partition : List.copyOf(covers.keySet())) {
            orAsk(partition, () -> {
                covers.get(partition).onEnd();
                return true;
            });
        }
        covers.keySet().removeAll(unreadable);
        for (PartitionId partition : unreadable) {
            keep(survey.look(ObjectKeys.partitionPrefix(bucketId, partition), (key, object) -> false, seen -> {}));
        }
        damaged.forEach((key, reason) -> lost.add("object " + key + ": " + reason));
    }

    /** Intact objects that no usable manifest names. */
    SortedMap<PartitionId, List<HeldObject>> objects() {
        return objects;
    }

    /** The offset from which on everything is there that a partition's manifest names. */
    SortedMap<PartitionId, Long> manifestsFrom() {
        TreeMap<PartitionId, Long> from = new TreeMap<>();
        covers.forEach((partition, cover) -> from.put(partition, cover.fromOffset()));
        return from;
    }

    /** How many objects there are. */
    long count() {
        long count = damaged.size();
        for (ManifestCover cover : covers.values()) {
            count += cover.objects();
        }
        for (List<HeldObject> held : objects.values()) {
            count += held.size();
        }
        return count;
    }

    private void open(PartitionState partition) {
        ManifestRef manifest = partition.chain().manifest().orElse(null);
        if (manifest != null) {
            orAsk(
                    partition.id(),
                    () -> covers.put(
                                    partition.id(),
                                    new ManifestCover(
                                            manifest, new ManifestObjects(store, bucketId, manifest, partition.id())))
                            == null);
        }
    }

    private boolean isNamed(SegmentKey key, ObjectStore.Stat object) {
        ManifestCover cover = covers.get(key.partition());
        if (cover == null || unreadable.contains(key.partition()) || !cover.covers(key.startOffset())) {
            return false;
        }
        return orAsk(key.partition(), () -> cover.onListed(object.key(), object.length()));
    }

    /** Where the manifest can't be read the objects themselves are asked, later. */
    private boolean orAsk(PartitionId partition, BooleanSupplier byTheManifest) {
        try {
            return byTheManifest.getAsBoolean();
        } catch (RemoteReadException trouble) {
            lost.add("manifest of " + partition + ": " + trouble.getMessage() + "; its objects are asked instead");
            unreadable.add(partition);
            return true;
        }
    }

    private void keep(BucketSurvey.Survey survey) {
        damaged.putAll(survey.unreadable());
        survey.partitions()
                .forEach((partition, held) ->
                        objects.put(partition, List.copyOf(held.objects().values())));
    }
}
