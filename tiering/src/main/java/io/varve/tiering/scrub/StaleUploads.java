package io.varve.tiering.scrub;

import static io.varve.tiering.object.StoreFailures.await;

import io.varve.base.Clock;
import io.varve.metadata.model.ObjectKeys;
import io.varve.tiering.api.UploadSweep;
import io.varve.tiering.object.ObjectStore;
import java.io.IOException;
import java.util.Optional;

/** Looks for uploads of one cluster that were never completed. A page of the store's answer in memory. */
public final class StaleUploads implements UploadSweep {

    private final ObjectStore store;
    private final String clusterId;
    private final Clock clock;

    public StaleUploads(ObjectStore store, String clusterId, Clock clock) {
        this.store = store;
        this.clusterId = clusterId;
        this.clock = clock;
    }

    @Override
    public int drop(long olderThanMs) throws IOException {
        long beforeMs = clock.wallTimeMs() - olderThanMs;
        int dropped = 0;
        Optional<String> cursor = Optional.empty();
        do {
            ObjectStore.Page<ObjectStore.Upload> page =
                    await(store.uploads(ObjectKeys.clusterPrefix(clusterId), cursor));
            for (ObjectStore.Upload upload : page.items()) {
                if (upload.initiatedMs() < beforeMs) {
                    await(store.abortUpload(upload.key(), upload.uploadId()));
                    dropped++;
                }
            }
            cursor = page.cursor();
        } while (cursor.isPresent());
        return dropped;
    }
}
