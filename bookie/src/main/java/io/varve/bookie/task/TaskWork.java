package io.varve.bookie.task;

import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/**
 * One kind of work. Unless it says otherwise, what it does is idempotent: after a crash, or an answer that got lost, a task is carried out once more.
 *
 * @param <T> the kind of task
 */
public interface TaskWork<T extends BookieTask> {

    /** Whether it can't be undone, so that the order must be seen in a linearizable read right before (I-9, I-17). */
    boolean isIrreversible();

    /**
     * Whether it may be begun again by a process that doesn't know how far an earlier one came. If not, a task that stands when the process starts is
     * reported as failed, and given out again under another number.
     */
    default boolean isRepeatable() {
        return true;
    }

    /**
     * Begins. Must not block; what blocks goes to threads of its own.
     *
     * @param view the newest, or the linearizable one if the work is irreversible
     * @param wanted whether the task still stands: work of any length looks now and then, and fails if it doesn't. Any thread
     * @return fails with what is thrown as an {@link Error}, and with what is worth trying again here; everything else is an outcome
     */
    CompletableFuture<TaskOutcome> start(T task, MetadataView view, BooleanSupplier wanted);
}
