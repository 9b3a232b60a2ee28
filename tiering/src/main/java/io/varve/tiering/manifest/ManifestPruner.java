package io.varve.tiering.manifest;

import static io.varve.tiering.manifest.ManifestReads.joined;

import io.micrometer.core.instrument.Counter;
import io.varve.base.PartitionId;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ManifestEditor.Edited;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.RemoteReadException.Kind;
import io.varve.tiering.core.ManifestLeaf;
import io.varve.tiering.core.ManifestMarks;
import io.varve.tiering.core.ManifestRoot;
import io.varve.tiering.object.ObjectStore;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes the old end off a manifest. Objects are deleted before anything stops naming them (I-11), so that a crash leaves names behind and never objects; then, if
 * whole leaves were emptied, a root without them is written. What is left of the first leaf needs no new root: the pointer says where its stretch starts.
 *
 * <p>A root or a leaf that is gone or damaged names nothing any longer. If nothing of what it named may be read, it is given up, so that it holds up nothing else. What it named is found by what the bucket lists under the
 * partition's own keys: of a deleted topic all of that goes, of one that lives what says itself that nobody may read any of it (ADR 0100).
 */
final class ManifestPruner {

    private static final Logger log = LoggerFactory.getLogger(ManifestPruner.class);

    /** How many leaves are emptied at a time: each has 4,096 segments, unless it is the last. */
    static final int LEAVES_MAX = 4;

    /** A commit names no more. If more were lost, the scrubber finds what is damaged of them. */
    private static final int SUPERSEDED_LEAVES_MAX = 100;

    private final ManifestReads reads;
    private final ManifestWriter writer;
    private final ObjectDeletion deletion;
    private final PartitionKeys keys;
    private final StretchSweep sweep;
    private final Counter lost;

    /** @param lost counts roots and leaves that were given up */
    ManifestPruner(
            ManifestReads reads,
            ManifestWriter writer,
            ObjectDeletion deletion,
            PartitionKeys keys,
            StretchSweep sweep,
            Counter lost) {
        this.reads = reads;
        this.writer = writer;
        this.deletion = deletion;
        this.keys = keys;
        this.sweep = sweep;
        this.lost = lost;
    }

    /** As {@link io.varve.tiering.api.ManifestEditor#prune} says. */
    Edited prune(
            PartitionId partition, ManifestRef manifest, long generation, long belowOffset, BooleanSupplier wanted) {
        Optional<ManifestRoot> root = unlessLost(
                manifest.key(), partition, belowOffset >= manifest.endOffset(), reads.root(manifest, partition));
        if (root.isEmpty()) {
            return giveUp(partition, manifest, belowOffset, wanted);
        }
        Cut cut = new Cut(manifest);
        List<ManifestRoot.Leaf> leaves = root.get().leaves();
        int emptied = 0;
        ManifestLeaf first = null;
        while (emptied < leaves.size() && first == null) {
            ManifestRoot.Leaf leaf = leaves.get(emptied);
            Optional<ManifestLeaf> read = unlessLost(
                    reads.keyOf(leaf, partition),
                    partition,
                    belowOffset >= leaf.endOffset(),
                    reads.leaf(leaf, partition));
            if (read.isEmpty() && belowOffset == BookieTask.PruneManifest.EVERYTHING) {
                return giveUp(partition, manifest, belowOffset, wanted);
            } else if (read.isEmpty()) {
                cut.past(leaf);
            } else if (emptied < LEAVES_MAX) {
                cut.below(read.get(), belowOffset);
            }
            if (cut.startOffset == leaf.endOffset()) {
                emptied++;
            } else {
                first = read.orElseThrow();
            }
        }
        deletion.delete(List.copyOf(cut.dead), wanted);
        if (cut.isPastWhatIsLost) {
            long deleted = sweep.segments(partition, cut.startOffset, wanted);
            log.warn("event=manifest_gone_over partition={} end={} deleted={}", partition, cut.startOffset, deleted);
        }
        return finish(partition, manifest, root.get(), generation, cut, emptied, first);
    }

    /**
     * What is read.
     *
     * @param isDead whether nothing of what it names may be read any longer
     * @return empty if it is lost, and nothing is lost by that
     */
    private <T> Optional<T> unlessLost(
            String key, PartitionId partition, boolean isDead, CompletableFuture<T> reading) {
        try {
            return Optional.of(joined(key, reading));
        } catch (RemoteReadException trouble) {
            boolean isLost = trouble.kind() == Kind.MISSING || trouble.kind() == Kind.CORRUPT;
            if (!isLost || !isDead) {
                throw trouble;
            }
            lost.increment();
            log.error("event=manifest_lost partition={} reason=\"{}\"", partition, trouble.getMessage());
            return Optional.empty();
        }
    }

    /** Goes on without a manifest of which nothing may be read. */
    private Edited giveUp(PartitionId partition, ManifestRef manifest, long belowOffset, BooleanSupplier wanted) {
        // The pointer's own key first: whether the bucket is ours is looked at before something is deleted, also if
        // nothing is listed.
        deletion.delete(List.of(manifest.key()), wanted);
        long deleted;
        if (belowOffset == BookieTask.PruneManifest.EVERYTHING) {
            deleted = keys.forEachPage(
                    partition,
                    page -> deletion.delete(
                            page.stream().map(ObjectStore.Stat::key).toList(), wanted));
        } else {
            // What follows in the chain is deleted when it leaves the chain, also if nobody may read it any more.
            deleted = sweep.segments(partition, manifest.endOffset(), wanted);
            sweep.manifests(partition, manifest.generation(), wanted);
        }
        log.error(
                "event=manifest_given_up partition={} key={} deletedByListing={}", partition, manifest.key(), deleted);
        return new Edited(Optional.empty(), List.of(manifest.key()));
    }

    private Edited finish(
            PartitionId partition,
            ManifestRef manifest,
            ManifestRoot root,
            long generation,
            Cut cut,
            int emptied,
            ManifestLeaf first) {
        if (cut.startOffset == manifest.startOffset()) {
            return new Edited(Optional.of(manifest), List.of());
        }
        List<String> superseded = new ArrayList<>();
        root.leaves()
                .subList(0, Math.min(emptied, SUPERSEDED_LEAVES_MAX))
                .forEach(leaf -> superseded.add(reads.keyOf(leaf, partition)));
        if (first == null) {
            superseded.add(manifest.key());
            return new Edited(Optional.empty(), superseded);
        }
        long segments = manifest.segments() - cut.segments;
        long bytes = manifest.bytes() - cut.bytes;
        if (emptied > 0) {
            superseded.add(manifest.key());
            ManifestRoot shorter = new ManifestRoot(
                    partition,
                    generation,
                    root.leaves().subList(emptied, root.leaves().size()));
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

    /** How much goes. */
    private static final class Cut {

        private final LinkedHashSet<String> dead = new LinkedHashSet<>();
        private long startOffset;
        private long segments;
        private long bytes;
        private boolean isPastWhatIsLost;

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
                dead.add(object.key());
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
            isPastWhatIsLost = true;
        }
    }
}
