package io.varve.bookie.repair;

import io.varve.base.BookieId;
import io.varve.bookie.client.BookieStatus;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ObjectRef;
import io.varve.metadata.model.SegmentDescriptor;
import java.io.IOException;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Deletes the local copy of a segment, on the positive instruction of the metadata service as it stands in a linearizable read (I-9). Should the same view
 * still name the copy as one to be read, then something is wrong with the order, and nothing is deleted. Nor is it while the object that takes the copy's place can't be seen: that it was
 * committed says that it was there once. If the store says that it is gone, and the copy is whole, the copy is offered to readers again by reporting the order as failed; if the copy is damaged as well, it stays,
 * and that is reported.
 */
public final class DeleteReplicaWork implements TaskWork<BookieTask.DeleteReplica> {

    private static final Logger LOG = LoggerFactory.getLogger(DeleteReplicaWork.class);

    private final BookieId self;
    private final SegmentStore store;
    private final Function<ObjectRef, CompletableFuture<Boolean>> isThere;
    private final Executor blocking;

    /**
     * @param isThere whether an object is still in the bucket, as {@link io.varve.tiering.api.Offloader#isThere} says it
     * @param blocking for reading a copy, which waits for the disk
     */
    public DeleteReplicaWork(
            BookieId self,
            SegmentStore store,
            Function<ObjectRef, CompletableFuture<Boolean>> isThere,
            Executor blocking) {
        this.self = self;
        this.store = store;
        this.isThere = isThere;
        this.blocking = blocking;
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
        Optional<ObjectRef> object = segment.flatMap(SegmentDescriptor::object);
        return object.isEmpty()
                ? delete(task)
                : isThere.apply(object.get())
                        .thenCompose(there -> there ? delete(task) : keep(segment.get(), object.get()))
                        .exceptionallyCompose(DeleteReplicaWork::notSeen);
    }

    private CompletableFuture<TaskOutcome> keep(SegmentDescriptor segment, ObjectRef object) {
        LOG.error("event=object-missing key={} decision=\"local copies are kept\"", object.key());
        String missing = "MISSING: " + object.key() + " is not in the bucket as it was committed";
        return CompletableFuture.supplyAsync(() -> whole(segment, missing), blocking);
    }

    /** A copy that isn't whole stays as well: it may hold most of what is left. */
    private TaskOutcome whole(SegmentDescriptor segment, String missing) {
        try {
            WholeCopy.check(store, segment);
            return new TaskOutcome.Failed(missing);
        } catch (IOException e) {
            return new TaskOutcome.Stuck(
                    "UNREADABLE: the object is not in the bucket as it was committed, and the copy on bookie " + self
                            + " can't be read in its place: " + e.getMessage());
        }
    }

    private static CompletableFuture<TaskOutcome> notSeen(Throwable failure) {
        return failure instanceof Error || failure.getCause() instanceof Error
                ? CompletableFuture.failedFuture(failure)
                : CompletableFuture.completedFuture(
                        new TaskOutcome.TryAgain("its object can't be looked at: " + failure.getMessage()));
    }

    private CompletableFuture<TaskOutcome> delete(BookieTask.DeleteReplica task) {
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
