package io.varve.metadata.client;

import io.netty.buffer.ByteBuf;
import io.varve.base.FaultHandler;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one thread of a client. Safe for any thread. What is handed in after the end is dropped. */
final class ClientThread {

    private static final Logger LOG = LoggerFactory.getLogger(ClientThread.class);

    private final ScheduledThreadPoolExecutor executor;
    private final FaultHandler faults;

    ClientThread(FaultHandler faults) {
        this.faults = faults;
        this.executor = new ScheduledThreadPoolExecutor(1, task -> {
            Thread created = new Thread(task, "metadata-client");
            created.setDaemon(true);
            return created;
        });
        executor.setRemoveOnCancelPolicy(true);
        executor.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        executor.setContinueExistingPeriodicTasksAfterShutdownPolicy(false);
    }

    /** Runs {@code task} soon, in the order of the calls. */
    void execute(Runnable task) {
        try {
            executor.execute(guarded(task));
        } catch (RejectedExecutionException ended) {
            LOG.trace("event=metadata_client_task_dropped");
        }
    }

    /** Runs {@code task} soon and then releases {@code body}, which may be null; releases it in any case. */
    void execute(ByteBuf body, Runnable task) {
        try {
            executor.execute(guarded(() -> {
                try {
                    task.run();
                } finally {
                    release(body);
                }
            }));
        } catch (RejectedExecutionException ended) {
            release(body);
        }
    }

    void schedule(Runnable task, long delayMs) {
        try {
            executor.schedule(guarded(task), delayMs, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException ended) {
            LOG.trace("event=metadata_client_task_dropped");
        }
    }

    void repeat(Runnable task, long everyMs) {
        executor.scheduleWithFixedDelay(guarded(task), everyMs, everyMs, TimeUnit.MILLISECONDS);
    }

    void end() {
        executor.shutdown();
    }

    private static void release(ByteBuf body) {
        if (body != null) {
            body.release();
        }
    }

    private Runnable guarded(Runnable task) {
        return () -> {
            try {
                task.run();
            } catch (RuntimeException trouble) {
                LOG.warn("event=metadata_client_failed reason=\"{}\"", trouble.toString(), trouble);
            } catch (Error broken) {
                faults.onFault("the metadata client", broken);
            }
        };
    }
}
