package io.varve.tiering.testing;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ChainManifests;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteSegments;
import io.varve.tiering.api.SealedSegmentSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Object storage that nobody reaches, for tests whose topics are not offloaded, or whose chains never become so long that a manifest is made. */
public enum NoBucket implements RemoteSegments, ChainManifests {
    INSTANCE;

    @Override
    public CompletableFuture<RemoteEntries> read(
            ObjectRef object, PartitionId partition, long from, int maxBytes, Following following) {
        return unreachable();
    }

    @Override
    public CompletableFuture<Optional<Long>> entryForTimestamp(ObjectRef object, PartitionId partition, long timeMs) {
        return unreachable();
    }

    @Override
    public CompletableFuture<Optional<SealedSegmentSource.Checkpoint>> checkpoint(
            ObjectRef object, PartitionId partition, long atMostOffset) {
        return unreachable();
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAt(
            ManifestRef manifest, PartitionId partition, long offset) {
        return unreachable();
    }

    @Override
    public CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
            ManifestRef manifest, PartitionId partition, long timestampMs, long fromOffset) {
        return unreachable();
    }

    @Override
    public CompletableFuture<Long> timestampMsMost(ManifestRef manifest, PartitionId partition, long fromOffset) {
        return unreachable();
    }

    private static <T> CompletableFuture<T> unreachable() {
        return CompletableFuture.failedFuture(
                new RemoteReadException(RemoteReadException.Kind.UNAVAILABLE, "there is no bucket", null));
    }

    @Override
    public void close() {}
}
