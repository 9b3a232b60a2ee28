package io.varve.tiering.api;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectRef;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * Reads of what was offloaded: by ranged GET of blocks, through one cache with one byte budget for the process, one fetch per block at a
 * time, and ahead of sequential readers. A fill goes on when the caller's wait ends. Safe for any thread; futures complete on threads of
 * this object. Failures are {@link RemoteReadException}: never empty data for a range that should be there.
 */
public interface RemoteSegments extends AutoCloseable {

    /**
     * Whole entries from the one that holds {@code fromOffset} on.
     *
     * @param fromOffset within the object
     * @param maxBytes entries are added while they fit; the first one always comes
     */
    CompletableFuture<RemoteEntries> read(ObjectRef object, PartitionId partition, long fromOffset, int maxBytes);

    /**
     * Says where a reader goes on that reaches the end of an object, so that what it will ask for is on its way by then. For a sequential reader alone; nothing happens for
     * another, or long before the end. Never blocks; tells of no trouble.
     *
     * @param nextOffset where its last read ended, within {@code object}
     * @param next begins where {@code object} ends
     */
    default void expect(PartitionId partition, ObjectRef object, long nextOffset, ObjectRef next) {}

    /** The first record with a time at or after {@code timestampMs} can only be in the entry that starts here; empty if none is. */
    CompletableFuture<Optional<Long>> entryForTimestamp(ObjectRef object, PartitionId partition, long timestampMs);

    /** The owner's last checkpoint in the object, with an offset not above {@code atMostOffset}. */
    CompletableFuture<Optional<SealedSegmentSource.Checkpoint>> checkpoint(
            ObjectRef object, PartitionId partition, long atMostOffset);

    /** Stops fills; reads under way fail. */
    @Override
    void close();

    /**
     * @param entries laid out by {@link io.varve.protocol.storage.EntryFormat}, checked, read-only and garbage-collected: may be kept,
     *     but keeps a cached block alive while it is
     * @param nextOffset where the next read goes on
     */
    record RemoteEntries(List<ByteBuffer> entries, long nextOffset) {
        public RemoteEntries {
            entries = List.copyOf(entries);
        }
    }
}
