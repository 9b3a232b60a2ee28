package io.varve.serving.partition;

import java.util.concurrent.Executor;

/** The thread of one partition loop, real or simulated: tasks run one at a time, in the order in which they were handed in. */
public interface LoopThread extends Executor {

    /** Whether the caller is on it. */
    boolean isCurrent();

    /** Runs {@code task} again and again, so long after the last time. */
    void every(long intervalMs, Runnable task);
}
