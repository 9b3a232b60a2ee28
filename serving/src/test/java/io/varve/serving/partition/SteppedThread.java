package io.varve.serving.partition;

import java.util.ArrayDeque;

/** The thread of a loop as a queue: tasks run when the test says so, in order, on its own thread. */
final class SteppedThread implements LoopThread {

    private static final int STEPS_MAX = 100_000;

    private final ArrayDeque<Runnable> tasks = new ArrayDeque<>();
    private boolean running;

    @Override
    public boolean isCurrent() {
        return running;
    }

    @Override
    public void every(long intervalMs, Runnable task) {
        // Nothing ticks here.
    }

    @Override
    public void execute(Runnable task) {
        tasks.add(task);
    }

    /** Runs the next task. Returns whether there was one. */
    boolean step() {
        Runnable next = tasks.poll();
        if (next != null) {
            running = true;
            try {
                next.run();
            } finally {
                running = false;
            }
        }
        return next != null;
    }

    /** Runs tasks until there are none. */
    void drain() {
        int steps = 0;
        while (step()) {
            if (++steps > STEPS_MAX) {
                throw new AssertionError("the loop never comes to rest");
            }
        }
    }
}
