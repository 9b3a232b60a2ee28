package io.varve.tiering.manifest;

import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.core.ManifestKeys;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.core.Sections;
import io.varve.tiering.object.ObjectStore;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Moves the offloaded head of a chain out of Raft: extends a partition's manifest by adjoining segments and drops what retention passed.
 * Leaves that don't change are taken over as they are; the last one is filled up first, so small extensions are compacted as they come.
 * Everything written is read back and checked before it is returned; nothing of the manifest before is touched, and its readers go on.
 * Safe for any thread.
 */
public final class ManifestWriter {

    private final ObjectStore store;
    private final String clusterId;
    private final ManifestReads reads;

    public ManifestWriter(ObjectStore store, String clusterId) {
        this.store = store;
        this.clusterId = clusterId;
        this.reads = new ManifestReads(store, clusterId);
    }

    /**
     * What was written.
     *
     * @param manifest to be committed in the place of the one before, by compare-and-set
     * @param superseded keys that nothing names once it is, to be deleted after its readers are gone
     */
    public record Written(ManifestRef manifest, List<String> superseded) {
        public Written {
            superseded = List.copyOf(superseded);
        }
    }

    /**
     * Extends a manifest.
     *
     * @param before the partition's manifest, if it has one
     * @param generation never used before for this partition, and larger than all that were
     * @param added offloaded segments, in order, adjoining each other and the manifest's end; may be empty
     * @param logStartOffset leaves wholly below are dropped
     */
    public CompletableFuture<Written> extend(
            PartitionId partition,
            Optional<ManifestRef> before,
            long generation,
            List<SegmentDescriptor> added,
            long logStartOffset) {
        check(before, generation, added);
        return before.map(ref -> reads.root(ref, partition).thenApply(Optional::of))
                .orElseGet(() -> CompletableFuture.completedFuture(Optional.<ManifestRoot>empty()))
                .thenCompose(root -> lastLeaf(partition, root, added)
                        .thenCompose(open -> write(partition, before, generation, root, open, added, logStartOffset)));
    }

    private static void check(Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added) {
        long next = before.map(ManifestRef::endOffset).orElse(-1L);
        for (SegmentDescriptor segment : added) {
            Invariant.check(segment.isOffloaded() && !segment.isEmpty(), "only what is in the bucket leaves Raft");
            Invariant.check(
                    next < 0 || segment.startOffset() == next, "I-8 segments adjoin", next, segment.startOffset());
            next = segment.endOffset();
        }
        Invariant.check(before.isPresent() || !added.isEmpty(), "a manifest describes something");
        Invariant.check(before.isEmpty() || before.get().generation() < generation, "generations rise", generation);
    }

    /** The segments of the last leaf, if it is to be filled up. */
    private CompletableFuture<List<SegmentDescriptor>> lastLeaf(
            PartitionId partition, Optional<ManifestRoot> root, List<SegmentDescriptor> added) {
        if (root.isEmpty() || added.isEmpty()) {
            return CompletableFuture.completedFuture(List.of());
        }
        List<ManifestRoot.Leaf> leaves = root.get().leaves();
        ManifestRoot.Leaf last = leaves.get(leaves.size() - 1);
        return last.segments() >= ManifestLeaf.SEGMENTS_MAX
                ? CompletableFuture.completedFuture(List.of())
                : reads.leaf(last, partition).thenApply(ManifestLeaf::segments);
    }

    private CompletableFuture<Written> write(
            PartitionId partition,
            Optional<ManifestRef> before,
            long generation,
            Optional<ManifestRoot> root,
            List<SegmentDescriptor> refilled,
            List<SegmentDescriptor> added,
            long logStartOffset) {
        List<String> superseded = new ArrayList<>();
        before.ifPresent(ref -> superseded.add(ref.key()));
        List<ManifestRoot.Leaf> leaves = new ArrayList<>();
        List<ManifestRoot.Leaf> old = root.map(ManifestRoot::leaves).orElse(List.of());
        for (int i = 0; i < old.size(); i++) {
            ManifestRoot.Leaf leaf = old.get(i);
            boolean isLast = i == old.size() - 1;
            boolean replaced = isLast && !refilled.isEmpty();
            // The last one stays, however old it is: whether a manifest is needed at all is the metadata's decision.
            if (replaced || !isLast && leaf.endOffset() <= logStartOffset) {
                superseded.add(ManifestKeys.leaf(clusterId, partition, leaf.startOffset(), leaf.generation()));
            } else {
                leaves.add(leaf);
            }
        }
        List<SegmentDescriptor> segments = new ArrayList<>(refilled);
        segments.addAll(added);
        CompletableFuture<Void> written = CompletableFuture.completedFuture(null);
        for (int from = 0; from < segments.size(); from += ManifestLeaf.SEGMENTS_MAX) {
            int end = Math.min(segments.size(), from + ManifestLeaf.SEGMENTS_MAX);
            ManifestLeaf leaf = new ManifestLeaf(partition, segments.subList(from, end));
            ByteBuffer bytes = leaf.encode(clusterId);
            ManifestRoot.Leaf described = ManifestRoot.describe(leaf, bytes, generation);
            leaves.add(described);
            String key = ManifestKeys.leaf(clusterId, partition, leaf.startOffset(), generation);
            written = written.thenCompose(done -> store.put(key, bytes))
                    .thenCompose(done -> reads.leaf(described, partition))
                    .thenAccept(readBack -> Invariant.check(readBack.equals(leaf), "a leaf is read as it was written"));
        }
        ManifestRoot next = new ManifestRoot(partition, generation, leaves);
        ByteBuffer bytes = next.encode();
        ManifestRef ref = refOf(next, bytes, logStartOffset);
        return written.thenCompose(done -> store.put(ref.key(), bytes))
                .thenCompose(done -> reads.root(ref, partition))
                .thenApply(readBack -> {
                    Invariant.check(readBack.equals(next), "a root is read as it was written");
                    return new Written(ref, superseded);
                });
    }

    private ManifestRef refOf(ManifestRoot root, ByteBuffer bytes, long logStartOffset) {
        long segments = 0;
        long size = 0;
        long maxTimestampMs = -1;
        for (ManifestRoot.Leaf leaf : root.leaves()) {
            segments += leaf.segments();
            size += leaf.bytes();
            maxTimestampMs = Math.max(maxTimestampMs, leaf.maxTimestampMs());
        }
        ManifestRoot.Leaf first = root.leaves().get(0);
        ManifestRoot.Leaf last = root.leaves().get(root.leaves().size() - 1);
        return new ManifestRef(
                ManifestKeys.root(clusterId, root.partition(), root.generation()),
                root.generation(),
                Math.max(first.startOffset(), Math.min(logStartOffset, last.endOffset())),
                last.endOffset(),
                segments,
                size,
                maxTimestampMs,
                bytes.remaining(),
                Sections.crc(bytes));
    }
}
