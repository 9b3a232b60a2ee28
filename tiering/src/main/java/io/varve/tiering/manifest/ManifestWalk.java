package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.object.ObjectStore;
import java.util.function.Consumer;

/** Goes through all that a manifest describes, a leaf in memory at a time, for checkers. Blocks. */
public final class ManifestWalk {

    private final ManifestReads reads;

    /** @param store read only */
    public ManifestWalk(ObjectStore store, String clusterId) {
        this.reads = new ManifestReads(store, clusterId);
    }

    /** What is met on the way. */
    public interface Visitor {
        /** The root or a leaf. */
        void onManifest(String key, long length);

        /** Each segment of the stretch, in order. */
        void onSegment(SegmentDescriptor segment);
    }

    /**
     * Goes through a manifest to its end, checking that its segments adjoin (I-8).
     *
     * @param fromOffset segments that end at or below it are left out
     *
     * @throws io.varve.tiering.api.RemoteReadException if a part of it can't be read: what was visited so far is not all there is
     */
    public void walk(ManifestRef manifest, PartitionId partition, long fromOffset, Visitor visitor) {
        walk(manifest, partition, fromOffset, Long.MAX_VALUE, visitor);
    }

    /**
     * {@link #walk(ManifestRef, PartitionId, long, Visitor)} through some of the segments; the leaves are all named.
     *
     * @param upToOffset segments whose objects begin above it are left out. The first ones of a manifest may be in an object that begins before them, if retention took away what that began with
     */
    public void walk(ManifestRef manifest, PartitionId partition, long fromOffset, long upToOffset, Visitor visitor) {
        long from = Math.max(fromOffset, manifest.startOffset());
        ManifestRoot root = joined(manifest.key(), reads.root(manifest, partition));
        visitor.onManifest(manifest.key(), manifest.length());
        for (ManifestRoot.Leaf leaf : root.leaves()) {
            String key = reads.keyOf(leaf, partition);
            visitor.onManifest(key, leaf.length());
            boolean mayBegin =
                    leaf.startOffset() <= upToOffset || leaf == root.leaves().get(0);
            if (leaf.endOffset() > from && mayBegin) {
                joined(key, reads.leaf(leaf, partition)).segments().stream()
                        .filter(segment ->
                                segment.endOffset() > from && objectOf(segment).startOffset() <= upToOffset)
                        .forEach(visitor::onSegment);
            }
        }
    }

    private static ObjectRef objectOf(SegmentDescriptor segment) {
        return segment.object().orElseThrow();
    }

    /** {@link #walk} for those who want segments alone. */
    public void segments(
            ManifestRef manifest, PartitionId partition, long fromOffset, Consumer<SegmentDescriptor> visitor) {
        walk(manifest, partition, fromOffset, new Visitor() {
            @Override
            public void onManifest(String key, long length) {
                // Not asked for.
            }

            @Override
            public void onSegment(SegmentDescriptor segment) {
                visitor.accept(segment);
            }
        });
    }
}
