package io.varve.bookie.task;

import io.varve.base.Invariant;
import io.varve.base.SegmentId;
import io.varve.metadata.model.BookieTask;
import java.util.ArrayList;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which tasks stand, which are at work, and which may begin. Pure. One owner.
 *
 * <pre>
 *            given          begun           reported
 *  (nothing) ─────► QUEUED ───────► AT_WORK ──────────► REPORTED ──► (nothing, when it is no longer given)
 *                      ▲               │ to be tried again
 *                      └───────────────┘
 * </pre>
 *
 * A task that is no longer given is forgotten at once unless it is at work: then it is no longer wanted, and forgotten when it ends.
 */
final class TaskBoard {

    private enum State {
        QUEUED,
        AT_WORK,
        REPORTED
    }

    private final Map<TaskKind, Integer> atWorkMax;
    private final Map<TaskKind, Integer> atWork = new EnumMap<>(TaskKind.class);
    private final TreeMap<Long, Entry> byId = new TreeMap<>();

    TaskBoard(Map<TaskKind, Integer> atWorkMax) {
        this.atWorkMax = new EnumMap<>(atWorkMax);
    }

    /** These tasks stand now, and no others. */
    void given(Collection<BookieTask> tasks) {
        TreeSet<Long> standing = new TreeSet<>();
        for (BookieTask task : tasks) {
            standing.add(task.taskId());
            byId.computeIfAbsent(task.taskId(), id -> new Entry(task));
        }
        for (Iterator<Entry> all = byId.values().iterator(); all.hasNext(); ) {
            Entry entry = all.next();
            entry.wanted = standing.contains(entry.task.taskId());
            if (!entry.wanted && entry.state != State.AT_WORK) {
                all.remove();
            }
        }
    }

    /** Tasks that may begin now; they are at work from here on. In order of their ids, the older first. */
    List<BookieTask> begin(long nowNanos) {
        TreeSet<SegmentId> busy = new TreeSet<>();
        for (Entry entry : byId.values()) {
            if (entry.state == State.AT_WORK) {
                TaskKind.replicaChanged(entry.task).ifPresent(busy::add);
            }
        }
        List<BookieTask> begun = new ArrayList<>();
        for (Entry entry : byId.values()) {
            if (entry.state != State.QUEUED) {
                continue;
            }
            // An older task of the same segment goes first even while it waits.
            Optional<SegmentId> replica = TaskKind.replicaChanged(entry.task);
            boolean free = replica.isEmpty() || busy.add(replica.get());
            TaskKind kind = TaskKind.of(entry.task);
            if (free && nowNanos - entry.notBeforeNanos >= 0 && atWork(kind) < atWorkMax.getOrDefault(kind, 1)) {
                entry.state = State.AT_WORK;
                atWork.merge(kind, 1, Integer::sum);
                begun.add(entry.task);
            }
        }
        return begun;
    }

    /** Nanoseconds until a task that waits may begin; empty if none does. */
    Optional<Long> nextNanos(long nowNanos) {
        return byId.values().stream()
                .filter(e -> e.state == State.QUEUED && e.notBeforeNanos - nowNanos > 0)
                .map(e -> e.notBeforeNanos - nowNanos)
                .min(Long::compare);
    }

    /** A task at work has ended and its end was reported: it is not begun again. */
    void reported(long taskId) {
        Entry entry = leaveWork(taskId);
        entry.state = State.REPORTED;
        forgetIfUnwanted(entry);
    }

    /** A task at work is to be tried again, not before that time. */
    void tryAgain(long taskId, long notBeforeNanos) {
        Entry entry = leaveWork(taskId);
        entry.state = State.QUEUED;
        entry.notBeforeNanos = notBeforeNanos;
        entry.tries++;
        forgetIfUnwanted(entry);
    }

    /** How often it was tried in vain. */
    int tries(long taskId) {
        Entry entry = byId.get(taskId);
        return entry == null ? 0 : entry.tries;
    }

    /** How many of a kind are at work. */
    int atWork(TaskKind kind) {
        return atWork.getOrDefault(kind, 0);
    }

    /** How many of a kind wait for their turn. */
    int queued(TaskKind kind) {
        return (int) byId.values().stream()
                .filter(e -> e.state == State.QUEUED && TaskKind.of(e.task) == kind)
                .count();
    }

    private Entry leaveWork(long taskId) {
        Entry entry = byId.get(taskId);
        Invariant.check(entry != null && entry.state == State.AT_WORK, "a task that ends was at work", taskId);
        atWork.merge(TaskKind.of(entry.task), -1, Integer::sum);
        return entry;
    }

    private void forgetIfUnwanted(Entry entry) {
        if (!entry.wanted) {
            byId.remove(entry.task.taskId());
        }
    }

    private static final class Entry {
        final BookieTask task;
        State state = State.QUEUED;
        boolean wanted = true;
        long notBeforeNanos;
        int tries;

        Entry(BookieTask task) {
            this.task = task;
            this.notBeforeNanos = Long.MIN_VALUE / 2;
        }
    }
}
