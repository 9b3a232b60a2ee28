package io.varve.bookie.task;

import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What the runner counts. */
final class TaskMetrics {

    private final MeterRegistry registry;
    private final Map<TaskKind, AtomicInteger> queued = new EnumMap<>(TaskKind.class);
    private final Map<TaskKind, AtomicInteger> atWork = new EnumMap<>(TaskKind.class);

    TaskMetrics(MeterRegistry registry) {
        this.registry = registry;
        for (TaskKind kind : TaskKind.values()) {
            queued.put(kind, gauge("varve_bookie_tasks_queued", "Tasks that wait for their turn", kind));
            atWork.put(kind, gauge("varve_bookie_tasks_at_work", "Tasks at work", kind));
        }
    }

    void backlog(TaskKind kind, int queuedNow, int atWorkNow) {
        queued.get(kind).set(queuedNow);
        atWork.get(kind).set(atWorkNow);
    }

    void ended(TaskKind kind, TaskOutcome outcome, long nanos) {
        registry.timer("varve_bookie_task", "kind", kind.label(), "outcome", label(outcome))
                .record(nanos, TimeUnit.NANOSECONDS);
    }

    private static String label(TaskOutcome outcome) {
        if (outcome instanceof TaskOutcome.Failed) {
            return "failed";
        } else if (outcome instanceof TaskOutcome.TryAgain) {
            return "again";
        } else {
            return outcome instanceof TaskOutcome.Stuck ? "stuck" : "done";
        }
    }

    private AtomicInteger gauge(String name, String description, TaskKind kind) {
        AtomicInteger value = new AtomicInteger();
        Gauge.builder(name, value, AtomicInteger::get)
                .description(description)
                .tag("kind", kind.label())
                .register(registry);
        return value;
    }
}
