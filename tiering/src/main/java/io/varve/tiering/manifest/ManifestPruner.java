package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ManifestEditor.Edited;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestMarks;
import io.varve.tiering.core.ManifestRoot;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the old end off a manifest. Objects are deleted before anything stops naming them (I-11), so that a crash leaves names behind and never objects; then, if
 * whole leaves were emptied, a root without them is written. What is left of the first leaf needs no new root: the pointer says where its stretch starts.
 */
final class ManifestPruner {

    private static final Logger log = LoggerFactory.getLogger(ManifestPruner.class);

    /** How many leaves are looked through at a time: each has 4,096 segments, unless it is the last. */
    static final int LEAVES_MAX = 4;

    private final ManifestReads reads;
    private final ManifestWriter writer;
    private final ObjectDeletion deletion;

    ManifestPruner(ManifestReads reads, ManifestWriter writer, ObjectDeletion deletion) {
        this.reads = reads;
        this.writer = writer;
        this.deletion = deletion;
    }

    /** As {@link io.varve.tiering.api.ManifestEditor#prune} says. */
    Edited prune(
            PartitionId partition, ManifestRef manifest, long generation, long belowOffset, BooleanSupplier wanted) {
        ManifestRoot root;
        try {
            root = joined(manifest.key(), reads.root(manifest, partition));
        } catch (RemoteReadException missing) {
            if (missing.kind() == Kind.MISSING && belowOffset >= manifest.endOffset()) {
                // Nobody will read it again, and what it named can't be known: the scrubber will find that.
                log.error("event=manifest_missing partition={} reason=\"{}\"", partition, missing.getMessage());
                return new Edited(Optional.empty(), List.of(manifest.key()));
            }
            throw missing;
        }
        Cut cut = new Cut(manifest);
        List<ManifestRoot.Leaf> leaves = root.leaves();
        int emptied = 0;
        ManifestLeaf first = null;
        while (emptied < leaves.size() && emptied < LEAVES_MAX && first == null) {
            ManifestRoot.Leaf leaf = leaves.get(emptied);
            Optional<ManifestLeaf> read = readUnlessGone(leaf, partition, belowOffset);
            if (read.isPresent()) {
                cut.below(read.get(), belowOffset);
            } else {
                cut.past(leaf);
            }
            if (cut.startOffset == leaf.endOffset()) {
                emptied++;
            } else {
                first = read.orElseThrow();
            }
        }
        deletion.delete(cut.dead, wanted);
        return finish(partition, manifest, root, generation, cut, emptied, first);
    }

    private Edited finish(
            PartitionId partition,
            ManifestRef manifest,
            ManifestRoot root,
            long generation,
            Cut cut,
            int emptied,
            ManifestLeaf firstLeft) {
        if (cut.startOffset == manifest.startOffset()) {
            return new Edited(Optional.of(manifest), List.of());
        }
        List<String> superseded = new ArrayList<>();
        root.leaves().subList(0, emptied).forEach(leaf -> superseded.add(reads.keyOf(leaf, partition)));
        if (emptied == root.leaves().size()) {
            superseded.add(manifest.key());
            return new Edited(Optional.empty(), superseded);
        }
        List<ManifestRoot.Leaf> left =
                root.leaves().subList(emptied, root.leaves().size());
        ManifestLeaf first = firstLeft != null
                ? firstLeft
                : joined(reads.keyOf(left.get(0), partition), reads.leaf(left.get(0), partition));
        long segments = manifest.segments() - cut.segments;
        long bytes = manifest.bytes() - cut.bytes;
        if (emptied > 0) {
            superseded.add(manifest.key());
            ManifestRoot shorter = new ManifestRoot(partition, generation, left);
            ManifestRef ref = writer.write(shorter, first, cut.startOffset, segments, bytes, manifest.maxTimestampMs());
            return new Edited(Optional.of(ref), superseded);
        }
        ManifestRef ref = new ManifestRef(
                manifest.key(),
                manifest.generation(),
                cut.startOffset,
                manifest.endOffset(),
                segments,
                bytes,
                manifest.maxTimestampMs(),
                manifest.length(),
                manifest.crc32c(),
                ManifestMarks.of(root, first, cut.startOffset));
        return new Edited(Optional.of(ref), superseded);
    }

    /** Empty for a leaf that isn't there and of which nothing may be read any longer: the scrubber will find what it named. */
    private Optional<ManifestLeaf> readUnlessGone(ManifestRoot.Leaf leaf, PartitionId partition, long belowOffset) {
        String key = reads.keyOf(leaf, partition);
        try {
            return Optional.of(joined(key, reads.leaf(leaf, partition)));
        } catch (RemoteReadException missing) {
            if (missing.kind() != Kind.MISSING || leaf.endOffset() > belowOffset) {
                throw missing;
            }
            log.error("event=manifest_missing partition={} reason=\"{}\"", partition, missing.getMessage());
            return Optional.empty();
        }
    }

    /** How much goes. */
    private static final class Cut {

        private final List<String> dead = new ArrayList<>();
        private long startOffset;
        private long segments;
        private long bytes;

        Cut(ManifestRef manifest) {
            startOffset = manifest.startOffset();
        }

        /** Takes the objects that end at or below an offset, up to the first one that doesn't. */
        void below(ManifestLeaf leaf, long belowOffset) {
            for (SegmentDescriptor segment : leaf.segments()) {
                if (segment.startOffset() < startOffset) {
                    continue;
                }
                ObjectRef object = segment.object().orElseThrow();
                if (object.endOffset() > belowOffset) {
                    return;
                }
                if (dead.isEmpty() || !dead.get(dead.size() - 1).equals(object.key())) {
                    dead.add(object.key());
                }
                segments++;
                bytes += Math.max(0, segment.bytes());
                startOffset = segment.endOffset();
            }
        }

        /** Takes a leaf that can't be read. */
        void past(ManifestRoot.Leaf leaf) {
            segments += leaf.segments();
            bytes += leaf.bytes();
            startOffset = leaf.endOffset();
        }
    }
}
