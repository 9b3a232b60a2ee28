package io.varve.metadata.core;

import io.varve.metadata.model.BookieTask;
import java.util.Objects;

/**
 * A task and when it was given.
 *
 * @param givenMs wall time of the leader
 */
public record GivenTask(BookieTask task, long givenMs) {
    public GivenTask {
        Objects.requireNonNull(task, "task");
    }
}
