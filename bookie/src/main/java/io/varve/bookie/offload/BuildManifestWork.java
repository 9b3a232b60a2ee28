package io.varve.bookie.offload;

import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.PartitionState;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.tiering.api.ManifestEditor;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;

/** Moves the offloaded head of a chain into the partition's manifest. Nothing of it is on this bookie's disks. */
public final class BuildManifestWork implements TaskWork<BookieTask.BuildManifest> {

    private final ManifestEditor editor;
    private final Executor blocking;

    /** @param blocking where the work is done, which waits for the store */
    public BuildManifestWork(ManifestEditor editor, Executor blocking) {
        this.editor = editor;
        this.blocking = blocking;
    }

    @Override
    public boolean isIrreversible() {
        return false;
    }

    @Override
    public CompletableFuture<TaskOutcome> start(
            BookieTask.BuildManifest task, MetadataView view, BooleanSupplier wanted) {
        return CompletableFuture.supplyAsync(() -> build(task, view), blocking).exceptionally(OffloadWork::failed);
    }

    private TaskOutcome build(BookieTask.BuildManifest task, MetadataView view) {
        Optional<PartitionState> partition = view.partition(task.partition());
        if (partition.isEmpty()) {
            return new TaskOutcome.Failed("partition " + task.partition() + " is gone");
        }
        List<SegmentDescriptor> added = new ArrayList<>();
        long next = task.startOffset();
        for (SegmentDescriptor segment :
                partition.get().chain().from(task.startOffset()).values()) {
            if (segment.startOffset() != next || next == task.endOffset() || !segment.isOffloaded()) {
                break;
            }
            added.add(segment);
            next = segment.endOffset();
        }
        boolean isThere =
                next == task.endOffset() && partition.get().chain().manifest().equals(task.before());
        if (!isThere) {
            return new TaskOutcome.Failed("the chain of " + task.partition() + " has moved on");
        }
        ManifestEditor.Edited edited = editor.extend(task.partition(), task.before(), task.taskId(), added);
        return new TaskOutcome.ManifestEdited(edited.manifest(), edited.superseded());
    }
}
