package io.varve.tiering.api;

import io.varve.base.PartitionId;
import io.varve.metadata.model.ObjectRef;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Copies sealed segments to object storage. Safe for any thread; bounded in what it does at a time. */
public interface Offloader extends AutoCloseable {

    /**
     * Uploads adjoining segments as one object, reads it back and verifies it. The caller then commits what is returned. Every call to the
     * store inside has its own deadline; an attempt that fails leaves nothing behind that the scrubber could not find by its attempt id.
     *
     * @param sources adjoining segments of one partition in order; closed by the offloader in every case
     * @param wanted asked before each piece that is read or sent; when it isn't, the attempt fails before it has made an object, for whoever took it back deletes what it left, and not for ever. Any thread
     * @return fails with {@link OffloadFailedException} and one line that says why, as {@code CLASS: text}
     */
    CompletableFuture<ObjectRef> offload(
            OffloadAttempt attempt, List<SealedSegmentSource> sources, BooleanSupplier wanted);

    /** {@link #offload(OffloadAttempt, List, BooleanSupplier)} for those who don't change their mind. */
    default CompletableFuture<ObjectRef> offload(OffloadAttempt attempt, List<SealedSegmentSource> sources) {
        return offload(attempt, sources, () -> true);
    }

    /**
     * Looks whether a committed object is still there, with its length.
     *
     * @return true if so; false if the store says that it isn't; fails with {@link java.io.IOException} if nobody knows
     */
    CompletableFuture<Boolean> isThere(ObjectRef object);

    /** Deletes an object, and verifies that it is gone. Deleting what isn't there succeeds. */
    CompletableFuture<Void> delete(String key);

    /** What waits and what went wrong last. Answers at once, also while the store is down. */
    Status status();

    /** Gives up what is under way. */
    @Override
    void close();

    /**
     * @param attemptId given out by the metadata service, in the key
     * @param topicName for the object to describe itself
     * @param partition likewise
     */
    record OffloadAttempt(long attemptId, String topicName, PartitionId partition) {}

    /**
     * @param pendingSegments accepted and not yet verified
     * @param pendingBytes of them, before compression
     * @param oldestMs how long the oldest of them has been waiting
     * @param lastError one line, empty if nothing went wrong so far
     */
    record Status(long pendingSegments, long pendingBytes, long oldestMs, String lastError) {}
}
