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
import java.util.TreeMap;

/**
 * The objects that a manifest names, in the order of their keys, each once, from the start of its stretch on; a leaf of it in memory at a time. In a leaf an object can come before another that begins before it: that
 * one is what is left of a merged object of which the first segments were rewritten. Blocks. One thread.
 */
public final class ManifestObjects implements Iterator<ObjectRef> {

    private final ManifestReads reads;
    private final ManifestRef manifest;
    private final PartitionId partition;
    private final Iterator<ManifestRoot.Leaf> leaves;
    private final ArrayDeque<ObjectRef> coming = new ArrayDeque<>();

    /**
     * Reads the root.
     *
     * @throws io.varve.tiering.api.RemoteReadException if it can't be read; also of {@link #hasNext} and {@link #next}, for a leaf
     */
    public ManifestObjects(ObjectStore store, String clusterId, ManifestRef manifest, PartitionId partition) {
        this.reads = new ManifestReads(store, clusterId);
        this.manifest = manifest;
        this.partition = partition;
        this.leaves =
                joined(manifest.key(), reads.root(manifest, partition)).leaves().iterator();
    }

    @Override
    public boolean hasNext() {
        while (coming.isEmpty() && leaves.hasNext()) {
            ManifestRoot.Leaf leaf = leaves.next();
            TreeMap<String, ObjectRef> named = new TreeMap<>();
            for (SegmentDescriptor segment : joined(reads.keyOf(leaf, partition), reads.leaf(leaf, partition))
                    .segments()) {
                if (segment.endOffset() > manifest.startOffset()) {
                    ObjectRef object = segment.object().orElseThrow();
                    named.put(object.key(), object);
                }
            }
            coming.addAll(named.values());
        }
        return !coming.isEmpty();
    }

    @Override
    public ObjectRef next() {
        if (!hasNext()) {
            throw new NoSuchElementException();
        }
        return coming.poll();
    }
}
