package io.varve.metadata.model;

import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * What of a partition could be found again in a bucket.
 *
 * @param logStartOffset the first offset that readers may ask for; where the log goes on if nothing was found
 * @param manifest describes what comes before the segments
 * @param segments sealed, in order, adjoining, each in object storage and on no bookie
 * @param epoch above every epoch that the partition is known to have had
 */
public record RestoredPartition(
        PartitionId id,
        long logStartOffset,
        Optional<ManifestRef> manifest,
        List<SegmentDescriptor> segments,
        int epoch) {
    public RestoredPartition {
        Objects.requireNonNull(id, "id");
        segments = List.copyOf(segments);
        for (SegmentDescriptor segment : segments) {
            Invariant.check(
                    segment.isOffloaded() && segment.replicas().isEmpty(),
                    "what was found in a bucket is there and nowhere else",
                    segment.id().value());
        }
    }

    /** Exclusive: where the log goes on. */
    public long endOffset() {
        return segments.isEmpty()
                ? manifest.map(ManifestRef::endOffset).orElse(logStartOffset)
                : segments.get(segments.size() - 1).endOffset();
    }
}
