package io.varve.tiering.api;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
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
     * @param following asked where a sequential reader will go on beyond the object, so that it is on its way by then
     */
    CompletableFuture<RemoteEntries> read(
            ObjectRef object, PartitionId partition, long fromOffset, int maxBytes, Following following);

    /** {@link #read(ObjectRef, PartitionId, long, int, Following)} by a reader that doesn't go on beyond the object. */
    default CompletableFuture<RemoteEntries> read(
            ObjectRef object, PartitionId partition, long fromOffset, int maxBytes) {
        return read(object, partition, fromOffset, maxBytes, Following.NOTHING);
    }

    /** Knows in which objects a log goes on. Asked on any thread; never blocks. */
    @FunctionalInterface
    interface Following {
        /** No object follows. */
        Following NOTHING = object -> CompletableFuture.completedFuture(Optional.empty());

        /** The object that begins where another ends; empty if what comes then is not, or not only, in object storage. */
        CompletableFuture<Optional<ObjectRef>> after(ObjectRef object);
    }

    /** The first record with a time at or after {@code timestampMs} can only be in the entry that starts here; empty if none is. */
    CompletableFuture<Optional<Long>> entryForTimestamp(ObjectRef object, PartitionId partition, long timestampMs);

    /** The owner's last checkpoint in the object, with an offset not above {@code atMostOffset}. */
    CompletableFuture<Optional<SealedSegmentSource.Checkpoint>> checkpoint(
            ObjectRef object, PartitionId partition, long atMostOffset);

    /** Stops fills; reads under way fail. */
    @Override
    void close();

    /**
     * @param entries whole ones, laid out by {@link io.varve.protocol.storage.EntryFormat} one after the other, checked; with a reference that is
     *     the receiver's, and that keeps cached blocks alive. Not to be written to
     * @param nextOffset where the next read goes on
     */
    record RemoteEntries(ByteBuf entries, long nextOffset) {
        /** Of entries in memory that is left to the collector. */
        public static RemoteEntries of(List<ByteBuffer> entries, long nextOffset) {
            return new RemoteEntries(
                    Unpooled.wrappedBuffer(Math.max(1, entries.size()), entries.toArray(ByteBuffer[]::new)),
                    nextOffset);
        }
    }
}
