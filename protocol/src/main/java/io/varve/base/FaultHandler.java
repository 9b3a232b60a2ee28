package io.varve.base;

/** Where a broken invariant, or any other {@code Error} of our own, ends up. Production stops the process; tests remember it. */
@FunctionalInterface
public interface FaultHandler {

    /**
     * Called once for a fault that the caller can't go on from. The caller must not touch its state afterwards.
     *
     * @param where what was being done, for the log
     */
    void onFault(String where, Throwable fault);
}
