package io.varve.serving.partition;

/** Everything at once, on the caller's thread. */
final class HereAndNow implements LoopThread {
    @Override
    public boolean isCurrent() {
        return true;
    }

    @Override
    public void every(long intervalMs, Runnable task) {
        // Nothing ticks here.
    }

    @Override
    public void execute(Runnable task) {
        task.run();
    }
}
