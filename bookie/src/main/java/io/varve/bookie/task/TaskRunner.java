package io.varve.bookie.task;

import io.micrometer.core.instrument.MeterRegistry;
import io.varve.base.BookieId;
import io.varve.base.Clock;
import io.varve.base.FaultHandler;
import io.varve.base.Randomness;
import io.varve.metadata.api.MetadataClient;
import io.varve.metadata.api.MetadataDelta;
import io.varve.metadata.api.MetadataException;
import io.varve.metadata.api.MetadataListener;
import io.varve.metadata.api.MetadataView;
import io.varve.metadata.model.BookieTask;
import io.varve.metadata.model.ManifestRef;
import io.varve.protocol.runtime.LogLimiter;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Watches the metadata for this bookie's tasks, carries each out, and reports how it ended until the report is in. Its {@link TaskBoard} belongs to
 * one thread, which never blocks.
 */
public final class TaskRunner implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(TaskRunner.class);
    private static final long AGAIN_MS_MIN = 200;
    private static final long AGAIN_MS_MAX = 60_000;
    private static final int DOUBLINGS_MAX = 16;
    private static final long CLOSE_MS_MAX = 2_000;

    /** Between two lines about what doesn't come about, for each kind: while a store is away everything fails, again and again, and `varve status` says it all at once. */
    private static final long TROUBLE_TOLD_MS = 10_000;

    private final BookieId self;
    private final MetadataClient metadata;
    private final Map<TaskKind, TaskWork<? extends BookieTask>> works;
    private final TaskBoard board;
    private final Clock clock;
    private final Randomness randomness;
    private final FaultHandler faults;
    private final TaskMetrics metrics;
    private final Map<TaskKind, LogLimiter> failuresTold;
    private final Map<TaskKind, LogLimiter> waitsTold;
    private final ScheduledExecutorService thread;
    private final MetadataListener listener = this::onChange;
    private final AtomicBoolean lookDue = new AtomicBoolean();
    /** Tasks of an earlier process that must not be begun again. */
    private final Set<Long> inherited = new TreeSet<>();

    private boolean inheritedKnown;
    private volatile boolean closed;

    /**
     * @param works one for each kind
     * @param atWorkMax how many of each kind may be at work at a time
     */
    public TaskRunner(
            BookieId self,
            MetadataClient metadata,
            Map<TaskKind, TaskWork<? extends BookieTask>> works,
            Map<TaskKind, Integer> atWorkMax,
            Clock clock,
            Randomness randomness,
            FaultHandler faults,
            MeterRegistry registry) {
        this.self = self;
        this.metadata = metadata;
        this.works = new EnumMap<>(works);
        this.board = new TaskBoard(atWorkMax);
        this.clock = clock;
        this.randomness = randomness;
        this.faults = faults;
        this.metrics = new TaskMetrics(registry);
        this.failuresTold = limiters(clock);
        this.waitsTold = limiters(clock);
        ScheduledThreadPoolExecutor executor = new ScheduledThreadPoolExecutor(1, task -> {
            Thread made = new Thread(task, "bookie-tasks");
            made.setDaemon(true);
            return made;
        });
        executor.setRemoveOnCancelPolicy(true);
        this.thread = executor;
    }

    private static Map<TaskKind, LogLimiter> limiters(Clock clock) {
        EnumMap<TaskKind, LogLimiter> limiters = new EnumMap<>(TaskKind.class);
        for (TaskKind kind : TaskKind.values()) {
            limiters.put(kind, new LogLimiter(clock, TROUBLE_TOLD_MS));
        }
        return limiters;
    }

    /** Begins with what stands now. */
    public void start() {
        metadata.subscribe(listener);
        run(() -> learnInherited(0));
    }

    /** Begins nothing more. What is at work is left to end by itself, unreported. */
    @Override
    public void close() {
        closed = true;
        metadata.unsubscribe(listener);
        thread.shutdownNow();
        try {
            thread.awaitTermination(CLOSE_MS_MAX, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void onChange(MetadataView before, MetadataView after, MetadataDelta delta) {
        if (delta.everything() || delta.tasksOf().contains(self)) {
            lookSoon();
        }
    }

    private void lookSoon() {
        if (lookDue.compareAndSet(false, true)) {
            run(() -> {
                lookDue.set(false);
                look();
            });
        }
    }

    // ---- everything below on the runner's thread, except where it says so ----

    /** What stands now was given to an earlier process, or could have been: a linearizable read, because a view can be behind what it was given. */
    private void learnInherited(int tries) {
        metadata.linearizable()
                .whenComplete((view, failure) -> run(() -> {
                    if (failure != null) {
                        later(TimeUnit.MILLISECONDS.toNanos(waitMs(tries)), () -> learnInherited(tries + 1));
                        return;
                    }
                    for (BookieTask task : view.tasksOf(self)) {
                        if (!works.get(TaskKind.of(task)).isRepeatable()) {
                            inherited.add(task.taskId());
                        }
                    }
                    inheritedKnown = true;
                    look();
                }));
    }

    private void look() {
        if (!inheritedKnown) {
            return;
        }
        board.given(metadata.view().tasksOf(self));
        pump();
    }

    private void pump() {
        for (BookieTask task : board.begin(clock.nanoTime())) {
            begin(task);
        }
        for (TaskKind kind : TaskKind.values()) {
            metrics.backlog(kind, board.queued(kind), board.atWork(kind));
        }
        board.nextNanos(clock.nanoTime()).ifPresent(nanos -> later(nanos, this::pump));
    }

    private void begin(BookieTask task) {
        TaskKind kind = TaskKind.of(task);
        if (inherited.remove(task.taskId())) {
            onEnded(task, kind, new TaskOutcome.Failed("an earlier process of this bookie may have begun it"));
            return;
        }
        long startNanos = clock.nanoTime();
        LOG.debug("event=task-begun task={} kind={} what=\"{}\"", task.taskId(), kind.label(), task);
        orderFor(task, kind)
                .thenCompose(view -> work(task, kind, view))
                .exceptionally(failure -> notCarriedOut(kind, root(failure)))
                .thenAccept(outcome -> run(() -> {
                    metrics.ended(kind, outcome, clock.nanoTime() - startNanos);
                    onEnded(task, kind, outcome);
                }));
    }

    /** Any thread. */
    private TaskOutcome notCarriedOut(TaskKind kind, Throwable failure) {
        if (failure instanceof Error) {
            faults.onFault("bookie task " + kind.label(), failure);
        }
        return new TaskOutcome.TryAgain(String.valueOf(failure.getMessage()));
    }

    /** The view on which the work goes: a linearizable one, in which the order still stands, if the work can't be undone. */
    private CompletableFuture<MetadataView> orderFor(BookieTask task, TaskKind kind) {
        if (!works.get(kind).isIrreversible()) {
            return CompletableFuture.completedFuture(metadata.view());
        }
        return metadata.linearizable().thenApply(view -> {
            if (!view.tasksOf(self).contains(task)) {
                throw new OrderWithdrawn();
            }
            return view;
        });
    }

    @SuppressWarnings("unchecked") // The map was made with the work that fits the kind.
    private CompletableFuture<TaskOutcome> work(BookieTask task, TaskKind kind, MetadataView view) {
        TaskWork<BookieTask> work = (TaskWork<BookieTask>) works.get(kind);
        return work.start(task, view, () -> !closed && isWantedNow(task));
    }

    /** Any thread. */
    private boolean isWantedNow(BookieTask task) {
        return metadata.view().tasksOf(self).contains(task);
    }

    private void onEnded(BookieTask task, TaskKind kind, TaskOutcome outcome) {
        if (outcome instanceof TaskOutcome.Done) {
            LOG.info("event=task-done task={} kind={} what=\"{}\"", task.taskId(), kind.label(), task);
            report(task, () -> metadata.completeTask(task.taskId()));
        } else if (outcome instanceof TaskOutcome.Uploaded uploaded) {
            LOG.info(
                    "event=task-done task={} kind={} key={}",
                    task.taskId(),
                    kind.label(),
                    uploaded.object().key());
            report(task, () -> metadata.commitOffload(task.taskId(), uploaded.object()));
        } else if (outcome instanceof TaskOutcome.ManifestEdited edited) {
            LOG.info(
                    "event=task-done task={} kind={} start={} end={} segments={}",
                    task.taskId(),
                    kind.label(),
                    edited.manifest().map(ManifestRef::startOffset).orElse(-1L),
                    edited.manifest().map(ManifestRef::endOffset).orElse(-1L),
                    edited.manifest().map(ManifestRef::segments).orElse(0L));
            report(task, () -> metadata.commitManifest(task.taskId(), edited.manifest(), edited.superseded()));
        } else if (outcome instanceof TaskOutcome.Failed failed) {
            tell(task, kind, failed);
            report(task, () -> metadata.failTask(task.taskId(), failed.reason(), failed.leftNothing()));
        } else if (outcome instanceof TaskOutcome.TryAgain again) {
            tell(task, kind, again);
            tryAgain(task);
        } else if (outcome instanceof TaskOutcome.Stuck stuck) {
            tell(task, kind, stuck);
            sayStuck(task, stuck.reason());
            tryAgain(task);
        }
    }

    private void tell(BookieTask task, TaskKind kind, TaskOutcome.Stuck stuck) {
        LogLimiter limiter = failuresTold.get(kind);
        if (limiter.mayLog()) {
            LOG.warn(
                    "event=task-stuck task={} kind={} what=\"{}\" reason=\"{}\" heldBack={}",
                    task.taskId(),
                    kind.label(),
                    task,
                    stuck.reason(),
                    limiter.heldBack());
        } else {
            LOG.debug("event=task-stuck task={} kind={} reason=\"{}\"", task.taskId(), kind.label(), stuck.reason());
        }
    }

    private void tell(BookieTask task, TaskKind kind, TaskOutcome.Failed failed) {
        LogLimiter limiter = failuresTold.get(kind);
        if (limiter.mayLog()) {
            LOG.warn(
                    "event=task-failed task={} kind={} what=\"{}\" reason=\"{}\" heldBack={}",
                    task.taskId(),
                    kind.label(),
                    task,
                    failed.reason(),
                    limiter.heldBack());
        } else {
            LOG.debug("event=task-failed task={} kind={} reason=\"{}\"", task.taskId(), kind.label(), failed.reason());
        }
    }

    private void tell(BookieTask task, TaskKind kind, TaskOutcome.TryAgain again) {
        LogLimiter limiter = waitsTold.get(kind);
        if (limiter.mayLog()) {
            LOG.info(
                    "event=task-again task={} kind={} reason=\"{}\" heldBack={}",
                    task.taskId(),
                    kind.label(),
                    again.reason(),
                    limiter.heldBack());
        } else {
            LOG.debug("event=task-again task={} kind={} reason=\"{}\"", task.taskId(), kind.label(), again.reason());
        }
    }

    private void tryAgain(BookieTask task) {
        long waitMs = waitMs(board.tries(task.taskId()));
        board.tryAgain(task.taskId(), clock.nanoTime() + TimeUnit.MILLISECONDS.toNanos(waitMs));
        look();
    }

    /** Said once: it is said again with the next try. */
    private void sayStuck(BookieTask task, String reason) {
        metadata.reportStuck(task.taskId(), reason).whenComplete((said, failure) -> {
            if (failure != null) {
                LOG.info(
                        "event=task-report-refused task={} reason=\"{}\"",
                        task.taskId(),
                        root(failure).getMessage());
            }
        });
    }

    private void report(BookieTask task, Supplier<CompletableFuture<Void>> say) {
        report(task, say, 0);
    }

    /** Says it until the quorum has answered: a report whose outcome is unknown is repeated, which the service takes for the same one. */
    private void report(BookieTask task, Supplier<CompletableFuture<Void>> say, int tries) {
        say.get()
                .whenComplete((done, failure) -> run(() -> {
                    if (failure == null || isFinal(root(failure))) {
                        if (failure != null) {
                            LOG.info(
                                    "event=task-report-refused task={} reason=\"{}\"",
                                    task.taskId(),
                                    root(failure).getMessage());
                        }
                        board.reported(task.taskId());
                        look();
                    } else {
                        later(TimeUnit.MILLISECONDS.toNanos(waitMs(tries)), () -> report(task, say, tries + 1));
                    }
                }));
    }

    private static boolean isFinal(Throwable failure) {
        return failure instanceof MetadataException refused
                && refused.reason() != MetadataException.Reason.UNAVAILABLE
                && refused.reason() != MetadataException.Reason.UNKNOWN_OUTCOME;
    }

    private long waitMs(int tries) {
        long step = Math.min(AGAIN_MS_MAX, AGAIN_MS_MIN << Math.min(DOUBLINGS_MAX, tries));
        return step / 2 + randomness.nextInt((int) (step / 2) + 1);
    }

    private void later(long nanos, Runnable task) {
        try {
            thread.schedule(() -> guarded(task), nanos, TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException stopped) {
            LOG.debug("event=task-runner-stopped");
        }
    }

    /** Any thread. */
    private void run(Runnable task) {
        try {
            thread.execute(() -> guarded(task));
        } catch (RejectedExecutionException stopped) {
            LOG.debug("event=task-runner-stopped");
        }
    }

    private void guarded(Runnable task) {
        try {
            task.run();
        } catch (RuntimeException | Error e) {
            faults.onFault("bookie tasks", e);
        }
    }

    private static Throwable root(Throwable failure) {
        return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
    }

    /** The order no longer stands in a linearizable read. */
    private static final class OrderWithdrawn extends RuntimeException {
        private static final long serialVersionUID = 1L;

        OrderWithdrawn() {
            super("the order was withdrawn", null, false, false);
        }
    }
}
