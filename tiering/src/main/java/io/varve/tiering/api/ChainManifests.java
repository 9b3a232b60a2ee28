package io.varve.tiering.api;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The part of a chain that Raft describes only by a pointer. A look-up costs two GETs cold, the root and a leaf, and none warm. Safe for any
 * thread. Failures are {@link RemoteReadException}: never an empty answer for what should be there. A pointer that was replaced goes on working for a
 * while, and then fails with MISSING: whoever holds it looks up the newest one and tries again.
 */
public interface ChainManifests {

    /**
     * The segment that covers {@code offset}.
     *
     * @return sealed, without replicas, with its object; empty if the offset is not in the manifest's stretch
     */
    CompletableFuture<Optional<SegmentDescriptor>> segmentAt(ManifestRef manifest, PartitionId partition, long offset);

    /**
     * The first segment that goes beyond {@code fromOffset} and may have a record at or after {@code timestampMs}; empty if the stretch has none.
     */
    CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
            ManifestRef manifest, PartitionId partition, long timestampMs, long fromOffset);

    /** No record of the segments that go beyond {@code fromOffset} has a larger time, and one of them may have it; {@code -1} if they have none. */
    CompletableFuture<Long> timestampMsMost(ManifestRef manifest, PartitionId partition, long fromOffset);
}
