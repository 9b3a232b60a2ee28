package io.varve.serving.request.data;

import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.OptionalLong;

/** How far object storage holds a partition, as its chain says. */
final class TieredEnds {

    private TieredEnds() {}

    /**
     * The end (exclusive) of the unbroken stretch, from the chain's start, that object storage holds; empty if it holds nothing.
     */
    static OptionalLong endOf(PartitionState partition) {
        long end = partition.chain().manifest().map(ManifestRef::endOffset).orElse(-1L);
        for (SegmentDescriptor segment : partition.chain().segments()) {
            if (!segment.isOffloaded()) {
                break;
            }
            end = segment.endOffset();
        }
        return end < 0 ? OptionalLong.empty() : OptionalLong.of(end);
    }
}
