package io.varve.metadata.model;

import io.varve.base.BookieId;
import io.varve.base.PartitionId;
import io.varve.base.SegmentId;
import java.util.List;
import java.util.Objects;

/**
 * Work that the metadata service has durably given to one bookie. It stays until that bookie reports how it ended, or until the service
 * gives it to somebody else. Bookies do nothing of the kind on their own (I-9).
 */
public sealed interface BookieTask {

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
}
