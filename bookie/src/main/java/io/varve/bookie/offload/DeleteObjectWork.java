package io.varve.bookie.offload;

import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.tiering.api.Offloader;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** Deletes an object that nothing names any longer, and verifies that it is gone (I-11). */
public final class DeleteObjectWork implements TaskWork<BookieTask.DeleteObject> {

    private final Offloader offloader;

    public DeleteObjectWork(Offloader offloader) {
        this.offloader = offloader;
    }

    @Override
    public boolean isIrreversible() {
        return true;
    }

    @Override
    public CompletableFuture<TaskOutcome> start(
            BookieTask.DeleteObject task, MetadataView view, BooleanSupplier wanted) {
        return offloader
                .delete(task.key())
                .<TaskOutcome>thenApply(gone -> new TaskOutcome.Done())
                .exceptionally(failure -> new TaskOutcome.Failed(OffloadWork.lineOf(failure)));
    }
}
