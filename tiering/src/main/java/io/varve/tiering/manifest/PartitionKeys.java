package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.core.ManifestKey;
import io.varve.tiering.core.SegmentKey;
import io.varve.tiering.object.ObjectStore;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** Lists what a bucket holds of one partition: objects and manifests that have the keys which we give out, and nothing else that somebody may have put beside them. Blocks. */
final class PartitionKeys {

    private static final int PAGE = 1_000;

    private final ObjectStore store;
    private final String clusterId;

    PartitionKeys(ObjectStore store, String clusterId) {
        this.store = store;
        this.clusterId = clusterId;
    }

    /**
     * Hands keys on, a page at a time, in their order, with how long what is there is.
     *
     * @return how many there were
     * @throws io.varve.tiering.api.RemoteReadException if the bucket can't be listed
     */
    long forEachPage(PartitionId partition, Consumer<List<ObjectStore.Stat>> pages) {
        String prefix = ObjectKeys.partitionPrefix(clusterId, partition);
        long count = 0;
        Optional<String> cursor = Optional.empty();
        do {
            ObjectStore.Page<ObjectStore.Stat> page = joined(prefix, store.list(prefix, cursor, PAGE));
            List<ObjectStore.Stat> ours =
                    page.items().stream().filter(object -> isOurs(object.key())).toList();
            pages.accept(ours);
            count += ours.size();
            cursor = page.cursor();
        } while (cursor.isPresent());
        return count;
    }

    private boolean isOurs(String key) {
        return SegmentKey.parse(clusterId, key).isPresent()
                || ManifestKey.parse(clusterId, key).isPresent();
    }
}
