package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.varve.base.Invariant;
import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectKeys;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ManifestEditor.Edited;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestMarks;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.core.Sections;
import io.varve.tiering.object.ObjectStore;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Extends manifests. Leaves that don't change are taken over as they are; the last one is filled up first, so small extensions are compacted as they come. Everything written is
 * read back and checked before it is returned; nothing of the manifest before is touched, and its readers go on.
 */
final class ManifestWriter {

    private final ObjectStore store;
    private final String clusterId;
    private final ManifestReads reads;

    ManifestWriter(ObjectStore store, String clusterId, ManifestReads reads) {
        this.store = store;
        this.clusterId = clusterId;
        this.reads = reads;
    }

    /** As {@link io.varve.tiering.api.ManifestEditor#extend} says. */
    Edited extend(PartitionId partition, Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added) {
        check(before, generation, added);
        List<String> superseded = new ArrayList<>();
        List<ManifestRoot.Leaf> leaves = new ArrayList<>();
        List<SegmentDescriptor> segments = new ArrayList<>();
        if (before.isPresent()) {
            superseded.add(before.get().key());
            leaves.addAll(joined(before.get().key(), reads.root(before.get(), partition))
                    .leaves());
            ManifestRoot.Leaf last = leaves.get(leaves.size() - 1);
            if (last.segments() < ManifestLeaf.SEGMENTS_MAX) {
                leaves.remove(last);
                superseded.add(reads.keyOf(last, partition));
                segments.addAll(leaf(last, partition).segments());
            }
        }
        segments.addAll(added);
        List<ManifestLeaf> fresh = ManifestLeaf.cut(partition, segments);
        ManifestLeaf first = leaves.isEmpty() ? fresh.get(0) : leaf(leaves.get(0), partition);
        for (int number = 0; number < fresh.size(); number++) {
            leaves.add(write(fresh.get(number), generation, number));
        }
        ManifestRef ref = write(new ManifestRoot(partition, generation, leaves), first, before, added);
        return new Edited(Optional.of(ref), superseded);
    }

    private static void check(Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added) {
        long next = before.map(ManifestRef::endOffset).orElse(-1L);
        for (SegmentDescriptor segment : added) {
            Invariant.check(segment.isOffloaded() && !segment.isEmpty(), "only what is in the bucket leaves Raft");
            Invariant.check(
                    next < 0 || segment.startOffset() == next, "I-8 segments adjoin", next, segment.startOffset());
            next = segment.endOffset();
        }
        Invariant.check(!added.isEmpty(), "a manifest is extended by something");
        Invariant.check(
                next == added.get(added.size() - 1).object().orElseThrow().endOffset(),
                "a manifest ends where an object does",
                next);
        Invariant.check(before.isEmpty() || before.get().generation() < generation, "generations rise", generation);
    }

    private ManifestRoot.Leaf write(ManifestLeaf leaf, long generation, int number) {
        ByteBuffer bytes = leaf.encode(clusterId);
        ManifestRoot.Leaf described = ManifestRoot.describe(leaf, bytes, generation, number);
        String key = ObjectKeys.manifestLeaf(clusterId, leaf.partition(), generation, number);
        put(key, bytes);
        ManifestLeaf readBack = leaf(described, leaf.partition());
        Invariant.check(readBack.equals(leaf), "a leaf is read as it was written");
        return described;
    }

    private ManifestRef write(
            ManifestRoot root, ManifestLeaf first, Optional<ManifestRef> before, List<SegmentDescriptor> added) {
        long startOffset = before.map(ManifestRef::startOffset).orElse(first.startOffset());
        long maxTimestampMs = before.map(ManifestRef::maxTimestampMs).orElse(-1L);
        long bytes = before.map(ManifestRef::bytes).orElse(0L);
        for (SegmentDescriptor segment : added) {
            maxTimestampMs = Math.max(maxTimestampMs, ManifestLeaf.timestampMsMost(segment));
            bytes += Math.max(0, segment.bytes());
        }
        long segments = before.map(ManifestRef::segments).orElse(0L) + added.size();
        return write(root, first, startOffset, segments, bytes, maxTimestampMs);
    }

    /**
     * Writes a root, reads it back, and answers the pointer to it.
     *
     * @param first its first leaf
     * @param startOffset where the stretch starts, in the first leaf
     */
    ManifestRef write(
            ManifestRoot root, ManifestLeaf first, long startOffset, long segments, long bytes, long maxTimestampMs) {
        ByteBuffer encoded = root.encode();
        ManifestRef ref = new ManifestRef(
                ObjectKeys.manifestRoot(clusterId, root.partition(), root.generation()),
                root.generation(),
                startOffset,
                root.leaves().get(root.leaves().size() - 1).endOffset(),
                segments,
                bytes,
                maxTimestampMs,
                encoded.remaining(),
                Sections.crc(encoded),
                ManifestMarks.of(root, first, startOffset));
        put(ref.key(), encoded);
        ManifestRoot readBack = joined(ref.key(), reads.root(ref, root.partition()));
        Invariant.check(readBack.equals(root), "a root is read as it was written");
        return ref;
    }

    private ManifestLeaf leaf(ManifestRoot.Leaf leaf, PartitionId partition) {
        return joined(reads.keyOf(leaf, partition), reads.leaf(leaf, partition));
    }

    private void put(String key, ByteBuffer bytes) {
        joined(key, store.put(key, bytes));
    }
}
