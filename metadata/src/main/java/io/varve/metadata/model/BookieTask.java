package io.varve.metadata.model;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Work that the metadata service has durably given to one bookie. It stays until that bookie reports how it ended, or until the service
 * gives it to somebody else. Bookies do nothing of the kind on their own (I-9).
 */
public sealed interface BookieTask {

    /** An upload or a copy that is slower is taken back in the end, as if the bookie had forgotten it. */
    long BYTES_PER_SECOND_MIN = 256 * 1024;

    /** Who is to do it. */
    BookieId bookie();

    /** Unique among all tasks ever given. */
    long taskId();

    /**
     * Upload adjoining sealed segments of one partition as one object (the intent of I-10's order).
     *
     * @param taskId also the attempt id in the object's key
     * @param segments in order of offset; the bookie holds a replica of each
     */
    record Offload(long taskId, BookieId bookie, PartitionId partition, List<SegmentId> segments)
            implements BookieTask {
        public Offload {
            segments = List.copyOf(segments);
        }
    }

    /**
     * Delete the local copy of a segment: the positive instruction of I-9.
     *
     * @param incarnation of the directory that holds it, {@code 0} for whichever does
     */
    record DeleteReplica(long taskId, BookieId bookie, PartitionId partition, SegmentId segment, long incarnation)
            implements BookieTask {}

    /**
     * Copy a sealed segment from one of {@code sources} and become its replica. What the bookie holds of it already is kept: a bookie
     * that turns out to hold all of it has only to say so.
     *
     * @param incarnation of the directory to put it in
     * @param sources replicas that hold all of it
     */
    record CopyReplica(
            long taskId,
            BookieId bookie,
            PartitionId partition,
            SegmentId segment,
            long incarnation,
            List<Replica> sources)
            implements BookieTask {
        public CopyReplica {
            sources = List.copyOf(sources);
        }
    }

    /**
     * Delete an object that nothing names any longer (I-11), or whatever an abandoned attempt may have left.
     *
     * @param key as {@link ObjectKeys} makes it
     */
    record DeleteObject(long taskId, BookieId bookie, String key) implements BookieTask {
        public DeleteObject {
            Objects.requireNonNull(key, "key");
        }
    }

    /**
     * Move the head of a partition's chain into its manifest: write new leaves and a new root beside those that are read, and read them back.
     *
     * @param taskId also the generation of what is written
     * @param before the manifest to extend; empty for a partition's first one
     * @param startOffset of the first segment to move
     * @param endOffset exclusive, of the last one
     */
    record BuildManifest(
            long taskId,
            BookieId bookie,
            PartitionId partition,
            Optional<ManifestRef> before,
            long startOffset,
            long endOffset)
            implements BookieTask {

        /** How many segments are moved at a time at most: a commit takes them out of the state in one piece, while other commands wait. */
        public static final int SEGMENTS_MAX = 1_024;

        /** How many leaves are written at a time at most: what the last one had, and what came. */
        public static final int LEAVES_MAX = 4;

        public BuildManifest {
            Objects.requireNonNull(before, "before");
        }
    }

    /**
     * Delete the objects that a partition's manifest describes below an offset: the intent of I-11. No reader may ask for anything of theirs any longer. What was
     * deleted is deleted again without harm, so that it can be begun anew after a crash.
     *
     * @param taskId also the generation of a root that is written
     * @param manifest whose objects
     * @param belowOffset objects that end at or below it; may be far beyond the manifest's end. {@link #EVERYTHING} if the topic was deleted
     */
    record PruneManifest(long taskId, BookieId bookie, PartitionId partition, ManifestRef manifest, long belowOffset)
            implements BookieTask {

        /** Nothing of the partition is needed any longer, whether the manifest describes it or not. */
        public static final long EVERYTHING = Long.MAX_VALUE;

        public PruneManifest {
            Objects.requireNonNull(manifest, "manifest");
        }
    }
}
