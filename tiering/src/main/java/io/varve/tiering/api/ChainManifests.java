package io.varve.tiering.api;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The part of a chain that Raft describes only by a pointer. A look-up costs two GETs cold, the root and a leaf, and none warm. Safe for any
 * thread. Failures are {@link RemoteReadException}: never an empty answer for what should be there.
 */
public interface ChainManifests {

    /**
     * The segment that covers {@code offset}.
     *
     * @return sealed, without replicas, with its object; empty if the offset is not in the manifest's stretch
     */
    CompletableFuture<Optional<SegmentDescriptor>> segmentAt(ManifestRef manifest, PartitionId partition, long offset);

    /** The first segment with a record at or after {@code timestampMs}; empty if the stretch has none. */
    CompletableFuture<Optional<SegmentDescriptor>> segmentAtTimestamp(
            ManifestRef manifest, PartitionId partition, long timestampMs);

    /** The last segment of the stretch with an epoch not above {@code epoch}: where the records of that epoch end. */
    CompletableFuture<Optional<SegmentDescriptor>> lastSegmentOfEpoch(
            ManifestRef manifest, PartitionId partition, int epoch);
}
