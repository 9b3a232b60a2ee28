package io.varve.serving.log;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** A log that can be read here and not be changed: all that changes one is answered NOT_OWNER. Nothing is ever added to it. */
public abstract class ReadOnlyLog implements PartitionLog {

    private static final long NOWHERE = -1;

    private static AppendResult refusal() {
        return new AppendResult(
                LogError.NOT_OWNER, NOWHERE, NOWHERE, NOWHERE, NOWHERE, "another broker owns this partition");
    }

    @Override
    public CompletableFuture<AppendResult> append(List<Batch> batches, AppendOptions options) {
        batches.forEach(batch -> batch.payload().release());
        return CompletableFuture.completedFuture(refusal());
    }

    @Override
    public Started start(List<Batch> batches, AppendOptions options) {
        return new Started(
                CompletableFuture.completedFuture(new Assigned(LogError.NOT_OWNER, NOWHERE, NOWHERE)),
                append(batches, options));
    }

    @Override
    public boolean isInTransaction(long producerId, short producerEpoch) {
        return false;
    }

    @Override
    public Started startMarker(Marker marker) {
        return start(List.of(), AppendOptions.COORDINATOR);
    }

    @Override
    public CompletableFuture<AppendResult> appendMarker(Marker marker) {
        return CompletableFuture.completedFuture(refusal());
    }

    /** What isn't here now will never be: the wait ends with the reader's own deadline. */
    @Override
    public Runnable whenReadable(long offset, Isolation isolation, Runnable callback) {
        Offsets at = offsets();
        long bound = isolation == Isolation.READ_COMMITTED ? at.lastStable() : at.highWatermark();
        if (offset < bound) {
            callback.run();
        }
        return () -> {};
    }

    @Override
    public CompletableFuture<TimestampResult> maxTimestamp() {
        return CompletableFuture.completedFuture(new TimestampResult(LogError.NOT_OWNER, Optional.empty()));
    }

    @Override
    public CompletableFuture<DeleteRecordsResult> deleteRecords(long offset) {
        return CompletableFuture.completedFuture(new DeleteRecordsResult(LogError.NOT_OWNER, NOWHERE));
    }

    @Override
    public CompletableFuture<List<ProducerInfo>> producers() {
        return CompletableFuture.completedFuture(List.of());
    }

    @Override
    public void addProgressListener(ProgressListener listener) {
        // It makes none.
    }

    @Override
    public void removeProgressListener(ProgressListener listener) {
        // None was added.
    }
}
