package io.varve.itest.sim;

import io.varve.serving.partition.LoopThread;
import io.varve.sim.SimProcess;
import java.util.ArrayDeque;

/** A thread of a simulated process: its tasks run one at a time and in order, as late as the process is paused, never after it was killed. */
final class SimLoopThread implements LoopThread {

    private final SimProcess process;
    private final int life;
    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean running;

    SimLoopThread(SimProcess process) {
        this.process = process;
        this.life = process.life();
    }

    @Override
    public boolean isCurrent() {
        return running;
    }

    @Override
    public void execute(Runnable task) {
        if (process.isAlive() && process.life() == life) {
            tasks.add(task);
            // Simultaneous events run in any order, a thread's tasks don't: so the event takes whichever is next.
            process.execute(this::runNext);
        }
    }

    private void runNext() {
        Runnable task = tasks.poll();
        running = true;
        try {
            task.run();
        } finally {
            running = false;
        }
    }

    @Override
    public void every(long intervalMs, Runnable task) {
        process.schedule(intervalMs * 1_000_000, () -> {
            execute(task);
            every(intervalMs, task);
        });
    }
}
