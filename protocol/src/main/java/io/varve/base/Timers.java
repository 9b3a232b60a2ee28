package io.varve.base;

/** Runs something later on the thread that owns the caller's state. */
public interface Timers {

    /**
     * Runs {@code task} once on the owner's thread, {@code delayNs} from now or as soon after as that thread is free.
     *
     * @param delayNs nanoseconds; what is not positive runs in the owner's next turn, never before this call returns
     */
    Timer schedule(long delayNs, Runnable task);

    /** One thing scheduled. */
    interface Timer {
        /** Keeps the task from running if it has not begun. Does nothing otherwise, and nothing the second time. */
        void cancel();
    }
}
