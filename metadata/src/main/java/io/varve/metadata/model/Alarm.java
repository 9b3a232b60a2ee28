package io.varve.metadata.model;

import io.varve.base.PartitionId;
import java.util.Objects;
import java.util.Optional;

/**
 * Something in the bucket that isn't as it should be, and stays so until somebody does something about it. It is told by what bookies reported of their work, stands for as long as that work fails,
 * and is gone when it succeeds or nobody needs it any longer.
 *
 * @param partition whose it is; empty if only the key says so
 * @param about what it is about: an object's key, or a partition's manifest's
 * @param attempts how often in a row the work failed
 * @param reason what it failed with last, in a line
 */
public record Alarm(Kind kind, Optional<PartitionId> partition, String about, int attempts, String reason) {

    /** What is wrong. */
    public enum Kind {
        /** An object that local copies were to be deleted for isn't in the bucket as it was committed: the copies that there are stay, and are read. */
        OBJECT_MISSING,
        /** An object isn't in the bucket as it was committed, and no bookie has a whole copy: nobody can read the segment. Damaged copies stay. */
        SEGMENT_UNREADABLE,
        /** The root or a leaf of a partition's manifest is gone or damaged: what only it names can't be read. */
        MANIFEST_DAMAGED,
        /** A manifest is neither extended nor pruned, again and again, for another reason. */
        MANIFEST_WORK_FAILS,
        /** An object that nothing names any longer isn't deleted, again and again: it costs what it costs. */
        OBJECT_NOT_DELETED
    }

    public Alarm {
        Objects.requireNonNull(kind, "kind");
        Objects.requireNonNull(partition, "partition");
        Objects.requireNonNull(about, "about");
        Objects.requireNonNull(reason, "reason");
    }
}
