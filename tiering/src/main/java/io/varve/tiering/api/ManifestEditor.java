package io.varve.tiering.api;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ManifestRef;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/**
 * Writes the manifests of chains, for a bookie that was given the task. Nothing that is read is ever changed: what comes out is to be committed in the place of the
 * pointer before, by compare-and-set. Blocks; safe for any thread. Failures are {@link RemoteReadException}: nothing was changed that anybody reads.
 */
public interface ManifestEditor {

    /**
     * Moves segments out of Raft: extends a partition's manifest by them.
     *
     * @param before the partition's manifest, if it has one
     * @param generation never used before for this partition, and larger than all that were
     * @param added offloaded segments, in order, adjoining each other and the manifest's end, whole objects
     */
    Edited extend(PartitionId partition, Optional<ManifestRef> before, long generation, List<SegmentDescriptor> added);

    /**
     * Deletes objects that a manifest describes and nobody may read any longer, and verifies that each of them is gone (I-11); a bounded number at a time. What was deleted
     * before is deleted again without harm.
     *
     * @param generation as above, for the root if one is written
     * @param belowOffset objects that end at or below it are deleted; {@link io.varve.metadata.model.BookieTask.PruneManifest#EVERYTHING} if nothing of the partition is needed any longer: then what can't be read of
     *     the manifest is no obstacle, and everything is deleted that the bucket lists of the partition
     * @param wanted asked before each deletion; when it no longer holds this fails
     */
    Edited prune(
            PartitionId partition, ManifestRef manifest, long generation, long belowOffset, BooleanSupplier wanted);

    /**
     * What came out.
     *
     * @param manifest to be committed; empty if nothing is left to describe
     * @param superseded keys that nothing names once it is
     */
    record Edited(Optional<ManifestRef> manifest, List<String> superseded) {
        public Edited {
            superseded = List.copyOf(superseded);
        }
    }
}
