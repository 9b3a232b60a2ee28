package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.object.ObjectStore;
import java.util.ArrayDeque;
import java.util.Iterator;
import java.util.NoSuchElementException;

/**
 * The objects that a manifest names, in order, each once, from the start of its stretch on; a leaf of it in memory at a time. Blocks. One thread.
 */
public final class ManifestObjects implements Iterator<ObjectRef> {

    private final ManifestReads reads;
    private final ManifestRef manifest;
    private final PartitionId partition;
    private final Iterator<ManifestRoot.Leaf> leaves;
    private final ArrayDeque<ObjectRef> coming = new ArrayDeque<>();
    private long endOffset;

    /**
     * Reads the root.
     *
     * @throws io.varve.tiering.api.RemoteReadException if it can't be read; also of {@link #hasNext} and {@link #next}, for a leaf
     */
    public ManifestObjects(ObjectStore store, String clusterId, ManifestRef manifest, PartitionId partition) {
        this.reads = new ManifestReads(store, clusterId);
        this.manifest = manifest;
        this.partition = partition;
        this.endOffset = manifest.startOffset();
        this.leaves =
                joined(manifest.key(), reads.root(manifest, partition)).leaves().iterator();
    }

    @Override
    public boolean hasNext() {
        while (coming.isEmpty() && leaves.hasNext()) {
            ManifestRoot.Leaf leaf = leaves.next();
            for (SegmentDescriptor segment : joined(reads.keyOf(leaf, partition), reads.leaf(leaf, partition))
                    .segments()) {
                add(segment.object().orElseThrow());
            }
        }
        return !coming.isEmpty();
    }

    /** Several segments can be in one object, and the first ones lie below the stretch. */
    private void add(ObjectRef object) {
        if (object.endOffset() > endOffset && endOffset < manifest.endOffset()) {
            coming.add(object);
            endOffset = object.endOffset();
        }
    }

    @Override
    public ObjectRef next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return coming.poll();
    }
}
