package io.varve.bookie.journal;

import io.varve.base.FaultHandler;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Runs a {@link Journal} on its two threads. Both sleep while there is nothing to do; the one timer there is writes a mark when the journal has become quiet.
 */
public final class JournalLoop implements AutoCloseable {

    /** How long the journal must be quiet before what it holds is marked as having been durable. */
    private static final long QUIET_NS = TimeUnit.MILLISECONDS.toNanos(100);

    /** How long a close waits for a file to write to. */
    private static final long CLOSE_WAIT_NS = TimeUnit.SECONDS.toNanos(5);

    private final Journal journal;
    private final FaultHandler faults;
    private final Thread worker;
    private final Thread flusher;
    private volatile boolean workerSleeps;
    private volatile boolean flusherSleeps;
    private volatile boolean closing;
    private volatile boolean workerDone;

    /** Starts the threads. */
    public JournalLoop(Journal journal, String name, FaultHandler faults) {
        this.journal = journal;
        this.faults = faults;
        this.worker = new Thread(() -> guarded("journal", this::runWorker), "journal-" + name);
        this.flusher = new Thread(() -> guarded("flusher", this::runFlusher), "flusher-" + name);
        worker.setDaemon(true);
        flusher.setDaemon(true);
        worker.start();
        flusher.start();
    }

    /** Queues an op. Any thread. */
    public void submit(JournalOp op) {
        journal.submit(op);
        if (workerDone) {
            journal.abandonQueued();
        }
        wake();
    }

    /** Makes the journal's thread look again: a file has become ready. */
    public void wake() {
        if (workerSleeps) {
            LockSupport.unpark(worker);
        }
    }

    private void guarded(String what, Runnable body) {
        try {
            body.run();
        } catch (Throwable fault) {
            faults.onFault(what, fault);
        }
    }

    private void runWorker() {
        long quietSinceNs = System.nanoTime();
        while (true) {
            if (journal.hasWork()) {
                journal.work();
                if (flusherSleeps && journal.hasForFlush()) {
                    LockSupport.unpark(flusher);
                }
                quietSinceNs = System.nanoTime();
                continue;
            }
            if (closing && (journal.isIdle() || journal.failure() != null || hasWaitedLong(quietSinceNs))) {
                workerDone = true;
                LockSupport.unpark(flusher);
                return;
            }
            boolean mayMark = journal.isUnproven() && journal.failure() == null && journal.isIdle();
            long quietNs = System.nanoTime() - quietSinceNs;
            if (mayMark && quietNs >= QUIET_NS) {
                journal.submit(new MarkOp(() -> {}));
                continue;
            }
            sleepWorker(mayMark ? QUIET_NS - quietNs : Long.MAX_VALUE);
        }
    }

    /** Nothing moves: the next journal file isn't made, because there is no room for it. */
    private static boolean hasWaitedLong(long sinceNs) {
        return System.nanoTime() - sinceNs > CLOSE_WAIT_NS;
    }

    private void sleepWorker(long forNs) {
        workerSleeps = true;
        if (!journal.hasWork() && !(closing && journal.isIdle())) {
            if (forNs == Long.MAX_VALUE) {
                LockSupport.park(this);
            } else {
                LockSupport.parkNanos(this, forNs);
            }
        }
        workerSleeps = false;
    }

    private void runFlusher() {
        while (true) {
            Group group = journal.takeForFlush();
            if (group == null) {
                if (workerDone) {
                    return;
                }
                flusherSleeps = true;
                if (!journal.hasForFlush() && !workerDone) {
                    LockSupport.park(this);
                }
                flusherSleeps = false;
                continue;
            }
            if (group.full) {
                wake();
            }
            long startNs = System.nanoTime();
            journal.flush(group, startNs);
            group.flushNs = System.nanoTime() - startNs;
            wake();
        }
    }

    /**
     * Makes durable what was submitted before, with a mark behind it, and ends the threads. Waits for the disk; but for a journal file that nobody can make any more
     * only so long. Whoever makes them must go on until this returns.
     */
    @Override
    public void close() {
        submit(new MarkOp(() -> {}));
        closing = true;
        boolean interrupted = false;
        while (worker.isAlive() || flusher.isAlive()) {
            LockSupport.unpark(worker);
            // A thread that ended in a fault says nothing any more.
            workerDone |= !worker.isAlive();
            LockSupport.unpark(flusher);
            try {
                worker.join(10);
                flusher.join(10);
            } catch (InterruptedException retry) {
                interrupted = true;
            }
        }
        workerDone = true;
        journal.abandonQueued();
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
