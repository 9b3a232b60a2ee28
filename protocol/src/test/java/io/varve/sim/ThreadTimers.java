package io.varve.sim;

import io.varve.base.Timers;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Timers on a real thread of their own, for tests that use an in-memory twin together with real threads. Safe for any thread. */
public final class ThreadTimers implements Timers, AutoCloseable {

    private final ScheduledExecutorService thread;

    public ThreadTimers(String name) {
        thread = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, name);
            made.setDaemon(true);
            return made;
        });
    }

    @Override
    public Timer schedule(long delayNs, Runnable task) {
        ScheduledFuture<?> scheduled = thread.schedule(task, Math.max(0, delayNs), TimeUnit.NANOSECONDS);
        return () -> scheduled.cancel(false);
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }
}
