package io.varve.sim;

import io.varve.base.Timers;
import java.util.ArrayDeque;

/**
 * A process that runs its tasks one at a time, can be killed (what it had scheduled never runs) and can be paused (what comes due meanwhile runs
 * afterwards, late: that makes a zombie).
 */
public final class SimProcess implements Timers {

    private final SimScheduler scheduler;
    private final String name;
    private final ArrayDeque<Runnable> late = new ArrayDeque<>();
    private int life;
    private boolean alive = true;
    private boolean paused;

    public SimProcess(SimScheduler scheduler, String name) {
        this.scheduler = scheduler;
        this.name = name;
    }

    /** Its name in the trace. */
    public String name() {
        return name;
    }

    @Override
    public Timer schedule(long delayNs, Runnable task) {
        int scheduledIn = life;
        return scheduler.schedule(delayNs, () -> runIn(scheduledIn, task));
    }

    /** Runs {@code task} as soon as this process is free. */
    public void execute(Runnable task) {
        schedule(0, task);
    }

    /** Whether it runs, paused or not. */
    public boolean isAlive() {
        return alive;
    }

    /** Whether it is paused. */
    public boolean isPaused() {
        return paused;
    }

    /** Which life it is in: raised by each {@link #kill}. */
    public int life() {
        return life;
    }

    /** kill -9. */
    public void kill() {
        scheduler.trace(name + " killed");
        life++;
        alive = false;
        paused = false;
        late.clear();
    }

    /** Starts again with nothing scheduled. */
    public void start() {
        scheduler.trace(name + " started");
        alive = true;
    }

    /** SIGSTOP. */
    public void pause() {
        if (alive && !paused) {
            scheduler.trace(name + " paused");
            paused = true;
        }
    }

    /** SIGCONT. */
    public void resume() {
        if (paused) {
            scheduler.trace(name + " resumed");
            paused = false;
            while (!late.isEmpty()) {
                Runnable task = late.poll();
                int scheduledIn = life;
                scheduler.schedule(0, () -> runIn(scheduledIn, task));
            }
        }
    }

    private void runIn(int scheduledIn, Runnable task) {
        if (scheduledIn != life || !alive) {
            return;
        }
        if (paused) {
            late.add(task);
        } else {
            task.run();
        }
    }
}
