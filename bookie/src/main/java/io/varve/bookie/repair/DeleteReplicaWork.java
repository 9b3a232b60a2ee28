package io.varve.bookie.repair;

import io.varve.base.BookieId;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.SegmentDescriptor;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the local copy of a segment, on the positive instruction of the metadata service as it stands in a linearizable read (I-9). Should the same view
 * still name the copy as one to be read, then something is wrong with the order, and nothing is deleted.
 */
public final class DeleteReplicaWork implements TaskWork<BookieTask.DeleteReplica> {

    private static final Logger LOG = LoggerFactory.getLogger(DeleteReplicaWork.class);

    private final BookieId self;
    private final SegmentStore store;

    public DeleteReplicaWork(BookieId self, SegmentStore store) {
        this.self = self;
        this.store = store;
    }

    @Override
    public boolean isIrreversible() {
        return true;
    }

    @Override
    public CompletableFuture<TaskOutcome> start(
            BookieTask.DeleteReplica task, MetadataView view, BooleanSupplier wanted) {
        Optional<SegmentDescriptor> segment = view.segment(task.segment());
        if (segment.isPresent() && isNamed(segment.get(), task)) {
            LOG.error("event=deletion-contradicted segment={} version={}", task.segment(), view.version());
            return CompletableFuture.completedFuture(
                    new TaskOutcome.TryAgain("the metadata names this replica as one to be read (I-9)"));
        }
        return store.delete(task.segment(), task.incarnation())
                .thenApply(status -> status == BookieStatus.OK
                        ? new TaskOutcome.Done()
                        : new TaskOutcome.TryAgain("the store answered " + status));
    }

    private boolean isNamed(SegmentDescriptor segment, BookieTask.DeleteReplica task) {
        return segment.replicas().stream()
                .anyMatch(r -> r.bookie().equals(self)
                        && (task.incarnation() == 0 || r.incarnation() == 0 || r.incarnation() == task.incarnation()));
    }
}
