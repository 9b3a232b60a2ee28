package io.varve.bookie.offload;

import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.tiering.api.ManifestEditor;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/** Deletes the objects at a manifest's old end that nobody may read any longer, and verifies that they are gone (I-11). */
public final class PruneManifestWork implements TaskWork<BookieTask.PruneManifest> {

    private final ManifestEditor editor;
    private final Executor blocking;

    /** @param blocking where the work is done, which waits for the store */
    public PruneManifestWork(ManifestEditor editor, Executor blocking) {
        this.editor = editor;
        this.blocking = blocking;
    }

    @Override
    public boolean isIrreversible() {
        return true;
    }

    @Override
    public CompletableFuture<TaskOutcome> start(
            BookieTask.PruneManifest task, MetadataView view, BooleanSupplier wanted) {
        return CompletableFuture.supplyAsync(() -> prune(task, wanted), blocking)
                .exceptionally(OffloadWork::failed);
    }

    private TaskOutcome prune(BookieTask.PruneManifest task, BooleanSupplier wanted) {
        ManifestEditor.Edited edited =
                editor.prune(task.partition(), task.manifest(), task.taskId(), task.belowOffset(), wanted);
        return new TaskOutcome.ManifestEdited(edited.manifest(), edited.superseded());
    }
}
