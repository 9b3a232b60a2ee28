package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.varve.base.PartitionId;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.core.ManifestKey;
import io.varve.tiering.core.ObjectTail;
import io.varve.tiering.core.SegmentKey;
import io.varve.tiering.object.ObjectStore;
import io.varve.tiering.read.ObjectReads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * Deletes what a manifest named that can't be read any longer, of a partition that lives: by what the bucket lists under the partition's own keys, and by what each object says of itself. A key says where its object
 * begins and not where it ends; one that reaches beyond what nobody may read is in the chain, or stands in for a rewrite. The intent is the dead stretch in the metadata (I-11). Blocks.
 */
final class StretchSweep {

    /** Tails that are read at a time. */
    private static final int ASKED_AT_ONCE = 32;

    private final ObjectStore store;
    private final String clusterId;
    private final PartitionKeys keys;
    private final ObjectDeletion deletion;

    StretchSweep(ObjectStore store, String clusterId, PartitionKeys keys, ObjectDeletion deletion) {
        this.store = store;
        this.clusterId = clusterId;
        this.keys = keys;
        this.deletion = deletion;
    }

    /**
     * Deletes objects of which nobody may read anything: one GET for each that begins below {@code endOffset}. What says nothing of itself, for it is damaged, stays for the scrubber.
     *
     * @param endOffset nothing below it may be read
     * @param wanted asked before each request that deletes
     * @return how many it deleted
     * @throws RemoteReadException if the store doesn't answer; what was deleted before that stays so
     */
    long segments(PartitionId partition, long endOffset, BooleanSupplier wanted) {
        long[] deleted = {0};
        keys.forEachPage(partition, page -> {
            List<ObjectStore.Stat> early = page.stream()
                    .filter(object -> SegmentKey.parse(clusterId, object.key())
                            .filter(key -> key.startOffset() < endOffset)
                            .isPresent())
                    .toList();
            List<String> dead = endingUpTo(partition, endOffset, early);
            deletion.delete(dead, wanted);
            deleted[0] += dead.size();
        });
        return deleted[0];
    }

    /**
     * Deletes the parts of a manifest that is given up as a whole, and of those before it.
     *
     * @param generation its own: no later one has been written, for there is one task at a time
     */
    void manifests(PartitionId partition, long generation, BooleanSupplier wanted) {
        keys.forEachPage(
                partition,
                page -> deletion.delete(
                        page.stream()
                                .map(ObjectStore.Stat::key)
                                .filter(key -> ManifestKey.parse(clusterId, key)
                                        .filter(part -> part.generation() <= generation)
                                        .isPresent())
                                .toList(),
                        wanted));
    }

    private List<String> endingUpTo(PartitionId partition, long endOffset, List<ObjectStore.Stat> objects) {
        List<String> ending = new ArrayList<>();
        for (int from = 0; from < objects.size(); from += ASKED_AT_ONCE) {
            List<ObjectStore.Stat> some = objects.subList(from, Math.min(objects.size(), from + ASKED_AT_ONCE));
            List<CompletableFuture<ObjectTail>> tails = some.stream()
                    .map(object -> ObjectReads.tail(store, object.key(), object.length()))
                    .toList();
            for (int i = 0; i < some.size(); i++) {
                if (endsUpTo(partition, endOffset, some.get(i).key(), tails.get(i))) {
                    ending.add(some.get(i).key());
                }
            }
        }
        return ending;
    }

    private static boolean endsUpTo(
            PartitionId partition, long endOffset, String key, CompletableFuture<ObjectTail> reading) {
        try {
            ObjectTail tail = joined(key, reading);
            return tail.footer().partition().equals(partition) && tail.footer().endOffset() <= endOffset;
        } catch (RemoteReadException trouble) {
            return switch (trouble.kind()) {
                case MISSING, CORRUPT, UNSUPPORTED_VERSION -> false;
                case UNAVAILABLE, FORBIDDEN -> throw trouble;
            };
        }
    }
}
