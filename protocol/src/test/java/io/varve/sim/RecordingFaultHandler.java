package io.varve.sim;

import io.varve.base.FaultHandler;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Remembers faults instead of ending the process, so that a test can find that there were, or were not, any. */
public final class RecordingFaultHandler implements FaultHandler {

    private final List<Throwable> faults = new CopyOnWriteArrayList<>();

    @Override
    public void onFault(String where, Throwable fault) {
        faults.add(fault);
    }

    /** All so far. */
    public List<Throwable> faults() {
        return List.copyOf(faults);
    }

    /** Takes the first one away, for it was expected; null if there is none. */
    public Throwable take() {
        return faults.isEmpty() ? null : faults.remove(0);
    }

    /** @throws AssertionError with the first one, if there was any */
    public void assertNone() {
        if (!faults.isEmpty()) {
            throw new AssertionError("A fault was reported", faults.get(0));
        }
    }
}
