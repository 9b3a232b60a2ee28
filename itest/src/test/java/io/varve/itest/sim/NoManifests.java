package io.varve.itest.sim;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteReadException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** No chain becomes so long here that its head moves into a manifest. */
enum NoManifests implements ChainManifests {
    INSTANCE;

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAt(
            ManifestRef manifest, PartitionId partition, long offset) {
        return missing();
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
            ManifestRef manifest, PartitionId partition, long timestampMs, long fromOffset) {
        return missing();
    }

    @Override
    public CompletableFuture<Long> timestampMsMost(ManifestRef manifest, PartitionId partition, long fromOffset) {
        return missing();
    }

    private static <T> CompletableFuture<T> missing() {
        return CompletableFuture.failedFuture(
                new RemoteReadException(RemoteReadException.Kind.MISSING, "there are no manifests", null));
    }
}
