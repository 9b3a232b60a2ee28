package io.varve.bookie.offload;

import io.varve.base.SegmentId;
import io.varve.bookie.store.SegmentStore;
import io.varve.bookie.task.TaskOutcome;
import io.varve.bookie.task.TaskWork;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.SegmentDescriptor;
import io.varve.metadata.model.Topic;
import io.varve.tiering.api.OffloadFailedException;
import io.varve.tiering.api.Offloader;
import io.varve.tiering.api.Offloader.OffloadAttempt;
import io.varve.tiering.api.RemoteReadException;
import io.varve.tiering.api.SealedSegmentSource;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Uploads adjoining sealed segments from this bookie's disk. An attempt that fails is reported, never repeated under its number: its key may have been
 * written, and keys are written once (I-10, I-11).
 */
public final class OffloadWork implements TaskWork<BookieTask.Offload> {

    private static final Logger LOG = LoggerFactory.getLogger(OffloadWork.class);

    private final SegmentStore store;
    private final Offloader offloader;
    private final Executor blocking;

    /** @param blocking for opening segments, which may wait for the disk */
    public OffloadWork(SegmentStore store, Offloader offloader, Executor blocking) {
        this.store = store;
        this.offloader = offloader;
        this.blocking = blocking;
    }

    @Override
    public boolean isIrreversible() {
        return false;
    }

    /** An earlier process may have written the key, and its commit may still be on the way: other bytes must not come under it. */
    @Override
    public boolean isRepeatable() {
        return false;
    }

    @Override
    public CompletableFuture<TaskOutcome> start(BookieTask.Offload task, MetadataView view, BooleanSupplier wanted) {
        return CompletableFuture.supplyAsync(() -> begin(task, view, wanted), blocking)
                .thenCompose(upload -> upload)
                .exceptionally(failure -> new TaskOutcome.Failed(lineOf(failure), leftNothing(failure)));
    }

    private CompletableFuture<TaskOutcome> begin(BookieTask.Offload task, MetadataView view, BooleanSupplier wanted) {
        Optional<Topic> topic = view.topic(task.partition().topic());
        if (topic.isEmpty()) {
            return failed("topic " + task.partition().topic() + " is gone");
        }
        List<SegmentDescriptor> segments = new ArrayList<>();
        for (SegmentId id : task.segments()) {
            Optional<SegmentDescriptor> segment = view.segment(id);
            if (segment.isEmpty() || segment.get().state() != SegmentDescriptor.State.SEALED) {
                return failed("segment " + id + " is not a sealed segment any more");
            }
            segments.add(segment.get());
        }
        List<SealedSegmentSource> sources = new ArrayList<>();
        try {
            for (SegmentDescriptor segment : segments) {
                sources.add(store.openSealed(segment));
            }
        } catch (IOException e) {
            closeAll(sources);
            return failed(e.getMessage());
        }
        OffloadAttempt attempt = new OffloadAttempt(task.taskId(), topic.get().name(), task.partition());
        return offloader.offload(attempt, sources, wanted).thenApply(TaskOutcome.Uploaded::new);
    }

    private static CompletableFuture<TaskOutcome> failed(String reason) {
        return CompletableFuture.completedFuture(new TaskOutcome.Failed(reason, true));
    }

    private static boolean leftNothing(Throwable failure) {
        return rootOf(failure) instanceof OffloadFailedException failed && failed.leftNothing();
    }

    private static Throwable rootOf(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    private static void closeAll(List<SealedSegmentSource> sources) {
        for (SealedSegmentSource source : sources) {
            try {
                source.close();
            } catch (IOException e) {
                LOG.warn(
                        "event=source-close-failed segment={} reason=\"{}\"",
                        source.segment().id(),
                        e.getMessage());
            }
        }
    }

    /** How work ended that threw: a broken invariant is no operating failure, and goes on to the runner. */
    static TaskOutcome failed(Throwable failure) {
        if (rootOf(failure) instanceof Error fault) {
            throw fault;
        }
        return new TaskOutcome.Failed(lineOf(failure));
    }

    /** What went wrong, in a line that begins with its class: the metadata tells by it whether something is lost or only away. */
    static String lineOf(Throwable failure) {
        Throwable root = rootOf(failure);
        return root instanceof RemoteReadException read
                ? read.kind() + ": " + read.getMessage()
                : String.valueOf(root.getMessage());
    }
}
